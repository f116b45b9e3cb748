"""The file never slows its writer: slow and full disks, limits, pipes."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
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


def test_more_buffers_than_a_call_takes(disk: Disk) -> None:
    sink = disk.sink()
    parts = [b"%d," % n for n in range(3000)]
    assert sink.put(parts, 1, 1)
    sink.close(nothing)
    assert disk.data == HEAD + b"".join(parts)


def test_partial_writes_go_on(disk: Disk) -> None:
    disk.step = 3
    sink = disk.sink()
    assert sink.put([b"abcd", b"efgh"], 1, 1)
    sink.close(nothing)
    assert disk.data == b"headabcdefgh"


def test_a_full_disk_stops_the_file_at_a_whole_block(disk: Disk) -> None:
    disk.room = len(HEAD) + 5 + 3
    sink = disk.sink()
    for block in ([b"block"], [b"second", b"block"], [b"third"]):
        sink.put(block, 1, 5)
    sink.close(nothing)
    assert disk.data == b"headblock"
    assert sink.stats == Stats(1, 9, 2, 10, os.strerror(errno.ENOSPC))


def test_when_there_is_room_again_it_says_what_is_lost(disk: Disk) -> None:
    disk.room = len(HEAD) + 3
    sink = disk.sink()
    assert sink.put([b"block"], 1, 5)
    await_until(lambda: sink.losing)
    disk.room = None
    assert not sink.put([b"third"], 1, 5)
    sink.close(lambda stats: b"%d lost" % stats.lost_packets)
    assert disk.data == b"head2 lost"


def test_a_full_disk_stays_full_at_the_end(disk: Disk) -> None:
    sink = disk.sink()
    disk.room = 2
    sink.put([b"block"], 1, 5)
    sink.close(lambda stats: b"last")
    assert disk.data == HEAD


def test_the_limit_is_of_the_whole_file(tmp_path: Path, disk: Disk) -> None:
    sink = disk.sink(limit=20, reserve=6)
    assert sink.put([b"0123456789"], 1, 10)
    assert not sink.put([b"x"], 1, 1)
    assert sink.stats.stopped == "it reached its size limit"
    sink.close(lambda stats: b"sixsix")
    assert sink.stats == Stats(1, 20, 1, 1, "it reached its size limit")
    assert (tmp_path / "f").stat().st_size == 20


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


def slow(disk: Disk, *, closing: float = 30.0, limit: int | None = None) -> Sink:
    """A sink whose thread hangs in its first write, with 8 of 10 bytes waiting."""
    sink = Sink(
        disk.path,
        HEAD,
        clock=disk.clock,
        writev=disk.writev,
        queue=10,
        closing=closing,
        limit=limit,
    )
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


def test_what_waits_within_the_limit_is_written(disk: Disk) -> None:
    sink = slow(disk, limit=12)
    assert not sink.put([b"d"], 1, 1)
    disk.gate.release(9)
    sink.close(nothing)
    assert disk.data == b"headbbbbcccc"
    assert sink.stats == Stats(2, 12, 1, 1, "it reached its size limit")


def test_an_error_in_the_thread_loses_what_waits(disk: Disk) -> None:
    sink = slow(disk)
    disk.room = 2
    disk.gate.release(9)
    sink.close(nothing)
    assert disk.data == HEAD
    assert sink.stats == Stats(0, 4, 2, 8, os.strerror(errno.ENOSPC))


def test_closing_does_not_wait_for_ever(disk: Disk) -> None:
    sink = slow(disk, closing=0.0)
    sink.close(nothing)
    assert sink.stats.stopped == "not written within 0 s of closing"
    assert sink.stats.lost_packets == 1
    disk.gate.release(9)


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
    assert (tmp_path / "other").read_bytes() == b""


def test_a_path_that_can_not_be_written(tmp_path: Path, disk: Disk) -> None:
    with pytest.raises(IsADirectoryError):
        make(tmp_path, Disk())
    with pytest.raises(FileNotFoundError):
        make(tmp_path / "no" / "f", Disk())
    disk.room = 2
    with pytest.raises(OSError, match="No space left"):
        disk.sink()


def test_a_file_size_limit_of_the_system(tmp_path: Path) -> None:
    script = """
import resource, sys
from pathlib import Path
from barnabas.captures.writing.sink import Sink
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
sink = Sink(Path(sys.argv[1]), b"h" * 50)
sink.put([b"a" * 40], 1, 40)
sink.put([b"b" * 40], 1, 40)
sink.close(lambda stats: b"")
print(sink.stats.stopped, sink.stats.bytes, sink.stats.lost_bytes)
"""
    run = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "f")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == "File too large 90 40\n"
    assert (tmp_path / "f").stat().st_size == 90
