"""The next file of a capture is never in the way."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from barnabas.captures.writing.block_sink import Stats
from barnabas.captures.writing.rotation import Rotation, Segments
from barnabas.captures.writing.sink import Sink


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
        return Sink(path, head, **{**given, **options, "create": gate.create})

    return Segments(folder, lambda number: b"%d:" % number, Rotation(size=4), sink=sink)


def nothing(stats: Stats) -> bytes:
    return b""


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
