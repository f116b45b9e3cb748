"""Times of many packets at once are those of each."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from barnabas.captures.files.pcapng import Interface
from barnabas.pipeline.reading.packet_arrays import times_of
from barnabas.pipeline.rows.exchanges import LATEST

LAST_S = 253_402_300_800
RESOLUTIONS = st.one_of(
    st.integers(0, 18).map(lambda exponent: 10**exponent),
    st.integers(0, 62).map(lambda exponent: 2**exponent),
)


@given(
    resolution=RESOLUTIONS,
    offset_s=st.integers(-(1 << 33), 1 << 33),
    ticks=st.lists(st.integers(-(1 << 63), (1 << 63) - 1), min_size=1),
    near=st.integers(-3, 3),
)
@example(resolution=10**8, offset_s=0, ticks=[-1], near=0)
@example(resolution=10**9, offset_s=-(1 << 32), ticks=[-1, -(1 << 63)], near=0)
def test_times_of(resolution: int, offset_s: int, ticks: list[int], near: int) -> None:
    on = Interface(1, 0, resolution, offset_s * 10**9)
    ends = [(second - offset_s) * resolution + near for second in (0, LAST_S)]
    ticks += [end for end in ends if 0 <= end < 1 << 63]
    # what is later than a column can say is its last moment, as in rows of the pure reader;
    # an interface's ticks have no sign: 64 bits of them are read into an array that has one
    right = [min(on.time(number % (1 << 64)), LATEST) for number in ticks]
    assert times_of(on, np.array(ticks, np.int64)).tolist() == right
