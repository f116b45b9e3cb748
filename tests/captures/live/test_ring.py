"""A ring: bytes come out as they went in, and a sleeping reader is woken."""

from __future__ import annotations

import os
import random
import select
import signal
import struct
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.live.lock import RecordLock
from barnabas.captures.live.ring import TURNS, Ring
from tests.captures.live.forked import ended, fork, forked, over


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


def test_what_is_seen_before_it_is_read() -> None:
    ring = Ring(8)
    ring.append([b"abcdef"], 6)
    ring.drop(4)
    ring.append([b"ghij"], 4)
    assert [bytes(piece) for piece in ring.peek()] == [b"efgh", b"ij"]
    assert [bytes(piece) for piece in ring.peek(7)] == [b"efg"]
    assert (ring.waiting, ring.written, ring.read) == (6, 10, 4)


def test_segments_end_where_they_are_full_and_the_reader_is_near() -> None:
    ring = Ring(1 << 16)
    ring.divide(4)
    for number in range(TURNS + 5):
        ring.append([b"abcd"], 4)
        assert ring.full
        ring.turn()
        assert ring.segment == 2 + min(number, TURNS - 1)
    assert ring.full, "it is larger than it is to be, since the reader is far behind"
    assert [ring.turned(number) for number in (0, 1, TURNS - 1, TURNS)] == [4, 8, 4 * TURNS, None]
    ring.drop(4)
    ring.turn()
    assert ring.segment == 1 + TURNS, "it has not gone beyond the first yet"
    ring.drop(1)
    ring.turn()
    assert ring.segment == 2 + TURNS
    assert ring.turned(TURNS) == ring.written


_TAG = struct.Struct("3I")
"""Of a block: its writer, its number, and its whole size."""


def _append_tagged(ring: Ring, writer: int, numbers: Iterable[int]) -> None:
    """Blocks of all sizes; who finds no room tries again."""
    for number in numbers:
        size = _TAG.size + number % 700
        block = [_TAG.pack(writer, number, size), bytes([number & 0xFF]) * (number % 700)]
        while True:
            with ring.lock:
                if size <= ring.free:
                    ring.append(block, size)
                    break


def _take_tagged(ring: Ring) -> Iterator[tuple[int, int]]:
    """Writer and number of all blocks that are there, each of which is whole."""
    waiting = ring.waiting
    while waiting:
        data = b"".join(ring.peek())
        writer, number, size = _TAG.unpack(data[: _TAG.size])
        assert size == _TAG.size + number % 700
        assert size <= waiting
        assert data[_TAG.size : size] == bytes([number & 0xFF]) * (number % 700)
        ring.drop(size)
        waiting -= size
        yield writer, number


def test_what_several_processes_write_is_whole_and_in_each_ones_order() -> None:
    ring, many = Ring(5000, RecordLock()), 10_000
    seen: dict[int, list[int]] = {writer: [] for writer in range(4)}
    works = [partial(_append_tagged, ring, writer, range(many)) for writer in seen]
    with forked(*works) as pids:
        while not over(pids) or ring.waiting:
            for writer, number in _take_tagged(ring):
                seen[writer].append(number)
    assert all(numbers == list(range(many)) for numbers in seen.values())


@pytest.mark.slow("a hundred processes that are killed")
def test_a_writer_that_is_killed_leaves_nothing_half_and_holds_up_nobody() -> None:
    ring, turns = Ring(5000, RecordLock()), 100
    chance = random.Random(5)
    last: dict[int, int] = {}
    with forked(partial(_append_tagged, ring, 0, count())) as steady:
        for writer in range(1, turns + 1):
            pid = fork(partial(_append_tagged, ring, writer, count()))
            least = chance.randrange(1, 200)
            before = last.get(0, -1)
            while last.get(writer, -1) < least or last.get(0, -1) == before:
                for each, number in _take_tagged(ring):
                    assert number == last.get(each, -1) + 1
                    last[each] = number
            os.kill(pid, signal.SIGKILL)
            assert ended(pid) == -signal.SIGKILL
        assert not over(steady)
