"""The heap that a JVM uses, read from the counters that every HotSpot publishes on Linux.

A JVM keeps counters in a mapped file (hsperfdata, which jstat reads), with a JDK or a bare JRE, so nothing
must be attached to it. The file shows what RSS can't: a heap that has grown is not given back, and its reuse
does not make the process larger. Layout: PerfDataPrologue and PerfDataEntry of HotSpot's perfMemory.hpp and
perfData.hpp, version 2.
"""

from __future__ import annotations

import contextlib
import getpass
import mmap
import re
import struct
import threading
from pathlib import Path
from typing import Final, Self

SAMPLED_S: Final = 0.02
"""Seconds between two looks; a JVM writes its counters every 50 ms, and after each garbage collection."""

_MAGIC: Final = b"\xca\xfe\xc0\xc0"
_USED: Final = re.compile(rb"sun\.gc\.generation\.\d+\.space\.\d+\.used")
_LONG: Final = ord("J")


_FOLDER: Final = Path("/tmp")  # noqa: S108 - HotSpot's own, whatever TMPDIR says


def published(pid: int) -> Path:
    """Return the file of a process."""
    return _FOLDER / f"hsperfdata_{getpass.getuser()}" / str(pid)


def places(data: bytes) -> tuple[str, tuple[int, ...]]:
    """Return the byte order ("<" or ">") and the offsets of the counters of each heap space.

    A counter is an int64 with the bytes in use.

    Raises:
        ValueError: The data is no such file, or has no such counters.
    """
    if len(data) < 32 or data[:4] != _MAGIC or data[5] != 2:
        raise ValueError("not an hsperfdata file of version 2")
    order = "<" if data[4] == 1 else ">"
    try:
        at, count = struct.unpack_from(f"{order}ii", data, 24)
        offsets = []
        for _ in range(count):
            length, name, _, kind, _, _, _, value = struct.unpack_from(f"{order}iiibbbbi", data, at)
            if kind == _LONG and _USED.fullmatch(data[at + name : data.index(b"\0", at + name)]):
                offsets.append(at + value)
            at += length
    except (struct.error, ValueError):
        raise ValueError("this hsperfdata is cut off") from None
    if not offsets:
        raise ValueError("this hsperfdata has no heap counters")
    return order, tuple(offsets)


class Heap:
    """The heap of a process, from `with` to its end; unknown if the process publishes no counters."""

    def __init__(self, pid: int) -> None:
        self._file = published(pid)
        self._map: mmap.mmap | None = None
        self._one = struct.Struct("<q")
        self._places: tuple[int, ...] = ()
        self._highest = 0
        self._over = threading.Event()
        self._watching: threading.Thread | None = None

    def __enter__(self) -> Self:
        with contextlib.suppress(OSError, ValueError):
            with self._file.open("rb") as file:
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            order, self._places = places(mapped[:])
            self._one = struct.Struct(f"{order}q")
            self._map = mapped
            self._watching = threading.Thread(target=self._watch, name="heap", daemon=True)
            self._watching.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._over.set()
        if self._watching is not None:
            self._watching.join()
        if self._map is not None:
            self._map.close()
            self._map = None

    def used(self) -> tuple[int, int] | None:
        """Return the bytes in use: now, and the peak since the last call; None if unknown."""
        if self._map is None:
            return None
        now = self._now()
        highest, self._highest = max(self._highest, now), now
        return now, highest

    def _now(self) -> int:
        assert self._map is not None  # noqa: S101
        total: int = sum(self._one.unpack_from(self._map, offset)[0] for offset in self._places)
        return total

    def _watch(self) -> None:
        while not self._over.wait(SAMPLED_S):
            self._highest = max(self._highest, self._now())
