"""Test reading ahead: every byte once and in order, in no more memory than the file has bytes."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.files.read_buffer import AHEAD, ReadBuffer


class Drops(io.RawIOBase):
    """Gives a few bytes at a time."""

    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        return self._data.readinto(buffer[:70_001])


@given(
    counts=st.lists(
        st.sampled_from([1, 7, 5000, AHEAD - 1, AHEAD, AHEAD + 1, 3 * AHEAD]), max_size=8
    )
)
def test_every_byte_once_and_in_its_place(counts: list[int]) -> None:
    whole = bytes(range(256)) * (2 * AHEAD // 256) + b"the end"
    window = ReadBuffer(io.BufferedReader(Drops(whole)))
    at = 0
    for count in counts:
        has = window.has(count)
        assert has == (count <= len(whole) - at)
        assert window.before + window.at == at
        taken = bytes(window.data[window.at :][:count])
        assert taken == whole[at : at + count]
        window.at += len(taken)
        at += len(taken)
