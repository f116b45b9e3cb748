"""How much of its heap a JVM uses: read from what every HotSpot publishes of itself, on Linux.

A JVM keeps counters in a file that it has mapped (hsperfdata; jstat reads the same), whether it is a JDK's
or a bare JRE, so nothing must be attached to it or asked. What RSS can't show is in it: a heap that has
grown once is not given back, and taking more of it makes the process no larger.
Layout: PerfDataPrologue and PerfDataEntry of HotSpot's perfMemory.hpp and perfData.hpp, version 2.
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
"""Seconds between two looks; a JVM writes its counters every 50 ms, and whenever it collects garbage."""

_MAGIC: Final = b"\xca\xfe\xc0\xc0"
_USED: Final = re.compile(rb"sun\.gc\.generation\.\d+\.space\.\d+\.used")
_LONG: Final = ord("J")


_FOLDER: Final = Path("/tmp")  # noqa: S108 - HotSpot's own, whatever TMPDIR says


def published(pid: int) -> Path:
    """The file of a process."""
    return _FOLDER / f"hsperfdata_{getpass.getuser()}" / str(pid)


def places(data: bytes) -> tuple[str, tuple[int, ...]]:
    """The byte order ("<" or ">"), and where the bytes in use of each part of the heap stand: int64s.

    Raises ValueError for what is no such file, or has none of them.
    """
    if len(data) < 32 or data[:4] != _MAGIC or data[5] != 2:
        raise ValueError("this is no hsperfdata of version 2")
    order = "<" if data[4] == 1 else ">"
    try:
        at, count = struct.unpack_from(f"{order}ii", data, 24)
        found = []
        for _ in range(count):
            length, name, _, kind, _, _, _, value = struct.unpack_from(f"{order}iiibbbbi", data, at)
            if kind == _LONG and _USED.fullmatch(data[at + name : data.index(b"\0", at + name)]):
                found.append(at + value)
            at += length
    except (struct.error, ValueError):
        raise ValueError("this hsperfdata is cut off") from None
    if not found:
        raise ValueError("this hsperfdata says nothing of a heap")
    return order, tuple(found)


class Heap:
    """The heap of a process, from `with` to its end; of one that publishes nothing, nothing is known."""

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
        """Bytes in use: now, and the most since the last call; None: not known."""
        if self._map is None:
            return None
        now = self._now()
        highest, self._highest = max(self._highest, now), now
        return now, highest

    def _now(self) -> int:
        assert self._map is not None  # noqa: S101
        found: int = sum(self._one.unpack_from(self._map, place)[0] for place in self._places)
        return found

    def _watch(self) -> None:
        while not self._over.wait(SAMPLED_S):
            self._highest = max(self._highest, self._now())
