"""What the thread that writes a file leaves to another: to close those before."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Sequence
from pathlib import Path

from barnabas.captures.files.pcapng import Buffer
from barnabas.captures.writing.block_sink import Stats
from barnabas.captures.writing.sink import Sink
from tests.captures.writing.disk import HEAD, Disk, await_until, make, nothing


def test_nothing_waits_while_the_file_before_is_closed(tmp_path: Path) -> None:
    disk, gate = Disk(), threading.Event()
    over: list[str] = []

    def finish(path: Path) -> None:
        assert gate.wait(30)
        over.append(path.name)

    sink = make(tmp_path / "1", disk, queue=10)
    sink.turn(tmp_path / "2", HEAD, finish)
    assert sink.put([b"x"], 1, 1)
    await_until(lambda: (tmp_path / "2").exists() and (tmp_path / "2").read_bytes() == b"headx")
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

    sink = Sink(tmp_path / "1", HEAD, clock=disk.clock, writev=disk.writev, closing=0.1)
    sink.turn(tmp_path / "2", HEAD, finish)
    await_until(lambda: sink.path.name == "2" and sink.stats.bytes == 2 * len(HEAD))
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
