"""A ring: bytes come out as they went in, and a sleeping reader is woken."""

from __future__ import annotations

import select

from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.live.ring import Ring


@given(st.lists(st.tuples(st.lists(st.binary(max_size=5), max_size=3), st.integers(1, 12))))
def test_bytes_come_out_in_order_whatever_wraps(turns: list[tuple[list[bytes], int]]) -> None:
    ring = Ring(12)
    written, read = b"", b""
    for buffers, size in turns:
        joined = b"".join(buffers)
        if len(joined) <= ring.free:
            ring.append(buffers, len(joined))
            written += joined
        into = bytearray(size)
        read += into[: ring.take(into)]
        assert ring.waiting == len(written) - len(read)
    rest = bytearray(12)
    assert read + rest[: ring.take(rest)] == written


def test_a_reader_that_sleeps_is_woken_once() -> None:
    ring = Ring(8)
    ring.append([b"a"], 1)
    assert not _woken(ring)
    ring.sleep(True)
    ring.append([b"b"], 1)
    ring.append([b"c"], 1)
    assert _woken(ring)
    ring.sleep(False)
    ring.append([b"d"], 1)
    assert not _woken(ring)


def test_a_reader_that_sleeps_hears_of_the_end() -> None:
    ring = Ring(8)
    ring.sleep(True)
    ring.close()
    assert _woken(ring)
    assert ring.closed


def test_another_reader_begins_where_nothing_is_and_goes_on_counting() -> None:
    ring = Ring(8)
    ring.append([b"abc"], 3)
    ring.done = 7
    ring.forget()
    assert (ring.waiting, ring.free, ring.done) == (0, 8, 7)


def _woken(ring: Ring) -> bool:
    """Whether the reader would wake; what woke it is taken."""
    found = bool(select.select([ring.woken], [], [], 0)[0])
    if found:
        ring.clear()
    return found
