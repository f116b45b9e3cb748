"""Test that the file never slows its writer: slow and full disks, limits, pipes."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from barnabas.captures.writing.block_sink import Stats
from barnabas.captures.writing.sink import Sink
from tests.captures.writing.disk import HEAD, VECTOR, Disk, await_until, make, nothing


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    return Disk(tmp_path / "f")


def test_buffers_are_written_in_order(tmp_path: Path, disk: Disk) -> None:
    sink = disk.sink()
    assert sink.put([b"one", memoryview(b"two")], 2, 3)
    sink.close(lambda stats: b"last" if stats == Stats(packets=2, bytes=10) else b"")
    assert disk.data == b"headonetwolast"
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o600


def test_partial_writes_go_on(disk: Disk) -> None:
    disk.step = 3
    sink = disk.sink()
    assert sink.put([b"abcd", b"efgh"], 1, 1)
    sink.close(nothing)
    assert disk.data == b"headabcdefgh"


def test_when_there_is_room_again_it_says_what_is_lost(disk: Disk) -> None:
    disk.room = len(HEAD) + 3
    sink = disk.sink()
    assert sink.put([b"block"], 1, 5)
    await_until(lambda: sink.losing)
    disk.room = None
    assert not sink.put([b"third"], 1, 5)
    sink.close(lambda stats: b"%d lost" % stats.lost_packets)
    assert disk.data == b"head2 lost"


def test_nobody_waits_for_a_write_however_long_it_takes(disk: Disk) -> None:
    sink = disk.sink()
    disk.gated = True
    assert sink.put([b"a"], 1, 1)
    assert disk.waits.acquire(timeout=30)
    for _ in range(100):
        buffer = bytearray(b"b")
        assert sink.put([memoryview(buffer)], 1, 1)
        buffer[:] = b"!"  # it is the caller's again
    assert sink.stats.packets == 0
    disk.gate.release(2)
    sink.close(nothing)
    assert disk.threads == {"MainThread", "capture"}
    assert disk.data == HEAD + b"a" + 100 * b"b"
    assert sink.stats == Stats(packets=101, bytes=105)


def test_what_comes_fast_is_written_in_few_calls(disk: Disk) -> None:
    sink = disk.sink()
    disk.gated = True
    assert sink.put([b"a"], 1, 1)
    assert disk.waits.acquire(timeout=30)
    for _ in range(3 * VECTOR):
        sink.put([b"b"], 1, 1)
    disk.gate.release(4)
    sink.close(nothing)
    assert sink.stats.packets == 1 + 3 * VECTOR


def slow(disk: Disk) -> Sink:
    """Return a sink whose thread hangs in its first write, with 8 of 10 bytes waiting."""
    sink = disk.sink(queue=10)
    disk.gated = True
    assert sink.put([b"bbbb"], 1, 4)
    assert disk.waits.acquire(timeout=30)
    assert sink.put([b"cccc"], 1, 4)
    return sink


def test_a_full_queue_loses_and_counts(disk: Disk) -> None:
    sink = slow(disk)
    assert not sink.put([b"ddd"], 1, 3)
    assert sink.put([b"ee"], 1, 2)
    disk.gate.release(9)
    sink.close(lambda stats: b"%d" % stats.lost_bytes)
    assert disk.data == b"headbbbbccccee3"
    assert sink.stats == Stats(3, 15, 1, 3)


def test_what_was_written_makes_room(disk: Disk) -> None:
    sink = slow(disk)
    disk.gate.release()
    assert disk.waits.acquire(timeout=30)
    assert sink.put([b"dddddd"], 1, 6)
    disk.gate.release(9)
    sink.close(nothing)
    assert sink.stats == Stats(3, 18)


def test_what_is_under_way_when_the_rest_is_given_up_is_counted(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("barnabas.captures.writing.sink._UNDER_WAY", 1.0)
    sink = slow(disk)

    def end_once_given_up() -> None:
        while sink.stats.stopped is None:
            os.sched_yield()
        disk.gate.release(9)

    thread = threading.Thread(target=end_once_given_up)
    thread.start()
    sink.close(nothing)
    thread.join()
    assert disk.data == b"headbbbb"
    assert sink.stats == Stats(1, 8, 1, 4, "not written within 30 s of closing")


def test_after_closing_all_is_lost(tmp_path: Path, disk: Disk) -> None:
    sink = disk.sink()
    sink.close(nothing)
    with (tmp_path / "other").open("wb"):  # it may have got the same descriptor
        assert not sink.put([b"x"], 1, 1)
    sink.close(nothing)
    assert sink.stats.lost_bytes == 1
    assert (tmp_path / "other").read_bytes() == b""


def test_a_path_that_can_not_be_written(tmp_path: Path, disk: Disk) -> None:
    with pytest.raises(IsADirectoryError):
        make(tmp_path, Disk())
    with pytest.raises(FileNotFoundError):
        make(tmp_path / "no" / "f", Disk())
    disk.room = 2
    with pytest.raises(OSError, match="No space left"):
        disk.sink()
