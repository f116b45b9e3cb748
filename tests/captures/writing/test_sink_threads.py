"""How long a thread writes a file, and what it leaves to another."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Sequence
from pathlib import Path

from barnabas.captures.files.pcapng import Buffer
from barnabas.captures.writing.block_sink import Stats
from barnabas.captures.writing.sink import FAST_NS, LONGEST_NS, SLOW_NS, Sink
from tests.captures.writing.disk import HEAD, Disk, make, nothing


def thread_ends() -> None:
    for thread in threading.enumerate():
        if thread.name == "capture":
            thread.join(30)


def thread_writes(sink: Sink, disk: Disk, data: bytes) -> None:
    """Put this a hundred times: after each the thread may end, if it does so too soon."""
    disk.threads.clear()
    for _ in range(100):
        assert sink.put([data], 1, 1)
        assert disk.wrote.acquire(timeout=30)
    assert disk.threads == {"capture"}


def test_the_thread_ends_once_the_file_is_fast_for_a_while(tmp_path: Path) -> None:
    disk = Disk()
    sink = make(tmp_path / "f", disk)
    trials = [*(FAST_NS << doubled for doubled in range(6)), LONGEST_NS, LONGEST_NS]
    for trial in trials:
        disk.takes = SLOW_NS + 1
        assert sink.put([b"a"], 1, 1)
        disk.takes = 0
        disk.now += trial - 1
        thread_writes(sink, disk, b"b")
        disk.now += 1
        assert sink.put([b"c"], 1, 1)
        thread_ends()
        disk.threads.clear()
        assert sink.put([b"d"], 1, 1)
        assert disk.threads == {"MainThread"}
        assert disk.wrote.acquire(timeout=30)
    sink.close(nothing)
    assert (tmp_path / "f").read_bytes() == HEAD + len(trials) * (b"a" + 100 * b"b" + b"cd")
    assert sink.stats == Stats(packets=103 * len(trials), bytes=4 + 103 * len(trials))


def test_the_thread_stays_while_it_meets_slow_writes(tmp_path: Path) -> None:
    disk = Disk()
    sink = make(tmp_path / "f", disk)
    disk.takes = SLOW_NS + 1
    assert sink.put([b"a"], 1, 1)
    disk.now += FAST_NS - 1
    assert sink.put([b"b"], 1, 1)  # slow, and over when the trial is
    assert disk.wrote.acquire(timeout=30)
    disk.takes = 0
    thread_writes(sink, disk, b"c")
    sink.close(nothing)
    assert (tmp_path / "f").read_bytes() == HEAD + b"ab" + 100 * b"c"


def test_nothing_waits_while_the_file_before_is_closed(tmp_path: Path) -> None:
    disk, gate = Disk(), threading.Event()
    over: list[str] = []

    def finish(path: Path) -> None:
        assert gate.wait(30)
        over.append(path.name)

    sink = make(tmp_path / "1", disk, queue=10)
    sink.turn(tmp_path / "2", HEAD, finish)
    thread_ends()
    assert sink.put([b"x"], 1, 1)
    assert (tmp_path / "2").read_bytes() == b"headx"
    sink.turn(tmp_path / "3", HEAD, finish)
    assert sink.put([b"y"], 1, 1)
    assert sink.put([b"too much"], 1, 8) is False  # files to be closed do not pile up
    assert over == []
    gate.set()
    sink.close(nothing)
    assert sink.closed
    assert over == ["1", "2"]
    assert [(tmp_path / name).read_bytes() for name in "123"] == [HEAD, b"headx", b"heady"]
    assert sink.stats == Stats(packets=2, bytes=14, lost_packets=1, lost_bytes=8)


def test_a_file_before_that_is_never_closed_does_not_hold_up_the_end(tmp_path: Path) -> None:
    disk, gate = Disk(), threading.Event()

    def finish(path: Path) -> None:
        assert gate.wait(30)

    sink = Sink(tmp_path / "1", HEAD, clock=disk.clock, writev=disk.writev, closing=0.0)
    sink.turn(tmp_path / "2", HEAD, finish)
    thread_ends()
    sink.close(lambda stats: b"last")
    gate.set()
    assert (tmp_path / "2").read_bytes() == b"headlast"
    assert not sink.closed


def test_what_a_disk_says_at_closing_is_in_the_last_block(tmp_path: Path) -> None:
    disk, files = Disk(), list[int]()

    def create(path: Path) -> int:
        files.append(os.open(path, os.O_WRONLY | os.O_CREAT))
        return files[-1]

    def writev(file: int, buffers: Sequence[Buffer]) -> int:
        if len(files) == 2:
            os.close(files[0])  # so that it can't be closed
            files.append(0)
        return disk.writev(file, buffers)

    sink = Sink(tmp_path / "1", HEAD, create=create, writev=writev, clock=disk.clock, closing=30.0)
    over = list[Path]()
    sink.turn(tmp_path / "2", HEAD, over.append)
    sink.close(lambda stats: str(stats.stopped).encode())
    assert (tmp_path / "2").read_text() == "head" + os.strerror(errno.EBADF)
    assert over == [tmp_path / "1"]
