"""Ways to write a long capture to a disk: what each costs the process that writes, segment after segment.

Each way writes `SEGMENTS` files behind the first `KEPT`; for each the oldest goes, as with `--rotate` and
`--rotate-keep`. Files are written in chunks, as the proxy reads them.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Final

from rich.table import Table

from bench.table import percentile, plain_table

CHUNK: Final = 128 << 10
SMALL: Final = 1000
KEPT: Final = 2
SEGMENTS: Final = 4

_BEHIND: Final = 8 << 20
"""Bytes behind the writer whose writing to the disk is begun."""

_libc = ctypes.CDLL(None)
_RANGE_WRITE: Final = 2
"""SYNC_FILE_RANGE_WRITE of sync_file_range(2)."""

Chunks = Iterator[memoryview]
Way = Callable[[Path, Path | None, Chunks, int], None]
"""Writes chunks of so many bytes in all to a new file; the other is the oldest one, to be deleted or used."""


@dataclass(slots=True)
class Cell:
    """Measurements of one way to write, one figure per segment."""

    rates: list[float] = field(default_factory=list)
    """Bytes a second."""
    cpu: list[float] = field(default_factory=list)
    """Seconds a GB, of this process."""
    slowest: list[float] = field(default_factory=list)
    """The longest wait for one chunk (s)."""


def _append(path: Path, oldest: Path | None, chunks: Chunks, _: int) -> None:
    _drop(oldest)
    with _opened(path, os.O_CREAT | os.O_EXCL) as file:
        for chunk in chunks:
            os.write(file, chunk)


def _preallocated(path: Path, oldest: Path | None, chunks: Chunks, size: int) -> None:
    _drop(oldest)
    with _opened(path, os.O_CREAT | os.O_EXCL) as file:
        os.posix_fallocate(file, 0, size)
        for chunk in chunks:
            os.write(file, chunk)


def _written_behind(path: Path, oldest: Path | None, chunks: Chunks, _: int) -> None:
    _drop(oldest)
    with _opened(path, os.O_CREAT | os.O_EXCL) as file:
        written = begun = 0
        for chunk in chunks:
            written += os.write(file, chunk)
            if written - begun >= _BEHIND:
                where = ctypes.c_int64(begun), ctypes.c_int64(written - begun)
                _libc.sync_file_range(file, *where, _RANGE_WRITE)
                begun = written


def _direct(path: Path, oldest: Path | None, chunks: Chunks, _: int) -> None:
    _drop(oldest)
    aligned = mmap.mmap(-1, CHUNK)
    with _opened(path, os.O_CREAT | os.O_EXCL | os.O_DIRECT) as file:
        for chunk in chunks:
            aligned[:] = chunk
            os.write(file, aligned)


def _in_place(path: Path, oldest: Path | None, chunks: Chunks, size: int) -> None:
    if oldest is None:
        _append(path, None, chunks, size)
        return
    oldest.rename(path)
    with _opened(path, 0) as file:
        for chunk in chunks:
            os.write(file, chunk)


def _in_place_evicted(path: Path, oldest: Path | None, chunks: Chunks, size: int) -> None:
    if oldest is not None:
        with _opened(oldest, 0) as file:
            os.fsync(file)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    _in_place(path, oldest, chunks, size)


WAYS: Final[dict[str, Way]] = {
    "new files (as barnabas does)": _append,
    "preallocated": _preallocated,
    "sync_file_range behind": _written_behind,
    "O_DIRECT, aligned": _direct,
    "the oldest again, in memory": _in_place,
    "the oldest again, no longer in memory": _in_place_evicted,
}


def measure(
    folder: Path, size: int, progress: Callable[[str], None]
) -> tuple[dict[tuple[str, int], Cell], str]:
    """All ways, for chunks as of bulk and as of small exchanges, and a remark; `size` bytes a segment."""
    results: dict[tuple[str, int], Cell] = {}
    if sys.platform != "linux":
        return results, "only on Linux are all of these there"
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        for chunk in (CHUNK, SMALL):
            for name, contestant in WAYS.items():
                if contestant is _direct and chunk == SMALL:
                    continue  # it writes whole sectors
                progress(f"disk: {name}, {chunk:,} bytes at once")
                cell = results[name, chunk] = Cell()
                _write(contestant, Path(scratch), size, chunk, cell)
    return results, f"in {folder}; the time includes that of deleting the oldest"


def _write(contestant: Way, folder: Path, size: int, chunk: int, cell: Cell) -> None:
    files: list[Path] = []
    for number in range(KEPT + SEGMENTS):
        path = folder / str(number)
        oldest = files.pop(0) if len(files) == KEPT else None
        waits: list[float] = []
        begun, cpu = time.perf_counter(), time.process_time()
        contestant(path, oldest, chunks(size, chunk, waits), size)
        took, used = time.perf_counter() - begun, time.process_time() - cpu
        files.append(path)
        if oldest is not None:
            cell.rates.append(size / took)
            cell.cpu.append(used / (size / 1e9))
            cell.slowest.append(max(waits))
    for path in files:
        path.unlink()
    os.sync()


def chunks(size: int, chunk: int, waits: list[float]) -> Chunks:
    """Chunks, and how long each was in hand."""
    data = memoryview(os.urandom(CHUNK))[:chunk]
    clock = time.perf_counter
    for _ in range(size // chunk):
        given = clock()
        yield data
        waits.append(clock() - given)


def _drop(oldest: Path | None) -> None:
    if oldest is not None:
        oldest.unlink()


@contextlib.contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    file = os.open(path, os.O_WRONLY | flags, 0o600)
    try:
        yield file
    finally:
        os.close(file)


def table(results: dict[tuple[str, int], Cell], size: int, remark: str) -> Table:
    """Tabulate the medians of the segments."""
    made = plain_table(
        f"disk: segments of {size >> 20} MiB, the last {KEPT} kept",
        remark,
        ("", "chunk", "MB/s", "CPU s/GB", "slowest chunk, median ms", "worst ms"),
    )
    for (name, chunk), cell in results.items():
        made.add_row(
            name,
            f"{chunk:,}",
            f"{median(cell.rates) / 1e6:,.0f}",
            f"{median(cell.cpu):.2f}",
            f"{median(cell.slowest) * 1e3:.1f}",
            f"{percentile(cell.slowest, 100) * 1e3:.0f}",
        )
    return made
