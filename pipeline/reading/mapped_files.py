"""The bytes of files, mapped into memory: a worker reads them at any place, and keeps few of their pages."""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Final

KEPT: Final = 64 << 20
"""Bytes of a file that stay mapped into a worker's memory behind where it reads."""


class MappedFiles:
    """Maps each file when it is first asked for."""

    def __init__(self) -> None:
        self._maps: dict[str, mmap.mmap] = {}
        self._let_go: dict[str, int] = {}
        """Up to where pages were let go."""

    def passed(self, path: str, place: int) -> None:
        """A flow was read up to a place. Pages that were looked at would stay: all of the file, in the end.

        They are still in the system's cache, from where the next flow has them again.
        """
        if not 0 <= place - self._let_go.get(path, 0) < KEPT:
            self._let_go[path] = place
            if hasattr(mmap, "MADV_DONTNEED"):
                self._maps[path].madvise(mmap.MADV_DONTNEED)

    def __getitem__(self, path: str) -> mmap.mmap:
        if path not in self._maps:
            with Path(path).open("rb") as file:
                self._maps[path] = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return self._maps[path]
