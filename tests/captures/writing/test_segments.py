"""Test that switching to the next file of a capture never delays the writer."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from barnabas.captures.files.pcapng import Buffer
from barnabas.captures.writing.block_sink import Stats
from barnabas.captures.writing.rotation import Rotation, Segments
from barnabas.captures.writing.sink import FileSystem, Sink
from tests.captures.writing.disk import HEAD, Disk, await_until, make, nothing


class Gate:
    """A disk on which the second file takes its time."""

    def __init__(self, full: bool = False) -> None:
        self.made = 0
        self.full = full
        self.open = threading.Event()

    def create(self, path: Path) -> int:
        self.made += 1
        if self.made == 2:
            assert self.open.wait(30)
            if self.full:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)


def gated(folder: Path, gate: Gate, **options: int) -> Segments:
    def sink(path: Path, head: bytes, **given: Any) -> Sink:
        return Sink(path, head, **{**given, **options, "system": FileSystem(gate.create)})

    return Segments(folder, lambda number: b"%d:" % number, Rotation(size=4), sink=sink)


def contents(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.iterdir())]


def test_blocks_wait_in_memory_until_the_next_file_is_there(tmp_path: Path) -> None:
    gate = Gate()
    sink = gated(tmp_path, gate)
    for data in (b"abcd", b"efg", b"h", b"ij"):
        assert sink.put([data], 1, len(data))
    assert sink.segment == 3
    gate.open.set()
    sink.close(nothing)
    assert contents(tmp_path) == [b"1:abcd", b"2:efgh", b"3:ij"]
    assert sink.stats.packets == 4


def test_a_file_that_can_not_be_made_ends_the_capture(tmp_path: Path) -> None:
    gate = Gate(full=True)
    sink = gated(tmp_path, gate)
    assert sink.put([b"abcd"], 1, 4)
    assert sink.put([b"ef"], 1, 2)
    gate.open.set()
    sink.close(nothing)
    assert contents(tmp_path) == [b"1:abcd"]
    assert sink.stats.stopped == os.strerror(errno.ENOSPC)
    assert sink.stats.lost_bytes == 2


@pytest.mark.parametrize(("limit", "size"), [(13, 12), (14, 14), (17, 14)])
def test_the_limit_is_that_of_all_segments(tmp_path: Path, limit: int, size: int) -> None:
    sink = Segments(tmp_path, lambda number: b"12", Rotation(size=4), limit=limit)
    taken = [sink.put([b"abcd"], 1, 4) for _ in range(3)]
    sink.close(nothing)
    assert taken == [True, True, False]
    assert sum(map(len, contents(tmp_path))) == size
    assert sink.stats.stopped == "it reached its size limit"


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

    sink = make(tmp_path / "1", disk, closing=0.1)
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

    system = FileSystem(create, writev, disk.clock)
    sink = Sink(tmp_path / "1", HEAD, system=system, closing=30.0)
    over = list[Path]()
    sink.turn(tmp_path / "2", HEAD, over.append)
    sink.close(lambda stats: str(stats.stopped).encode())
    assert (tmp_path / "2").read_text() == "head" + os.strerror(errno.EBADF)
    assert over == [tmp_path / "1"]
