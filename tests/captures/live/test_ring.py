"""Test that bytes leave a ring as they entered it, and that a sleeping reader is woken."""

from __future__ import annotations

import fcntl
import os
import select
import signal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.live.lock import RecordLock
from barnabas.captures.live.reader import LOOKS, await_more
from barnabas.captures.live.ring import TURNS, Ring
from tests.captures.live.forked import ended, fork


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


def test_others_wait_until_its_holder_lets_it_go_or_is_killed() -> None:
    lock = RecordLock()
    held, holds = os.pipe()

    def hold() -> None:
        with lock:
            os.write(holds, b"h")
            signal.pause()

    pid = fork(hold)
    os.read(held, 1)
    with pytest.raises(BlockingIOError):
        fcntl.lockf(lock.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.kill(pid, signal.SIGKILL)
    assert ended(pid) == -signal.SIGKILL
    with lock:
        assert ended(fork(lambda: _refused(lock))) == 0
    with lock:
        pass
    os.close(held)
    os.close(holds)


def _refused(lock: RecordLock) -> None:
    with pytest.raises(BlockingIOError):
        fcntl.lockf(lock.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


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


def test_another_reader_begins_where_nothing_is_and_goes_on_counting() -> None:
    ring = Ring(8)
    ring.append([b"abc"], 3)
    ring.done = 7
    ring.forget()
    assert (ring.waiting, ring.free, ring.done) == (0, 8, 7)


def test_who_sleeps_is_woken_and_who_has_something_to_read_does_not_sleep() -> None:
    ring = Ring(8)
    ring.append([b"a"], 1)
    await_more(ring, LOOKS)
    ring.sleep(True)
    ring.append([b"b"], 1)
    ring.drop(2)
    await_more(ring, LOOKS)
    assert not select.select([ring.woken], [], [], 0)[0], "what woke it is taken"
