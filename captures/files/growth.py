"""Read a capture that is still being written: reading waits at its end for more."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from barnabas.captures.files.pcapng import CaptureError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

QUIET: Final = 60.0
"""Seconds without a write after which a capture is complete."""

MOST: Final = 1 << 18
"""Bytes of one read at most."""

PAUSE: Final = 0.2
"""Seconds between two polls."""


class Growth:
    """A poll for more data. `pause` sleeps a number of seconds, and returns True if it is time to stop."""

    def __init__(
        self, pause: Callable[[float], bool], now: Callable[[], float] = time.time
    ) -> None:
        self._pause = pause
        self._now = now

    def more(self, path: Path) -> bool:
        """Pause, and return whether a file may still grow: it was written recently."""
        if self._pause(PAUSE):
            return False
        try:
            return self._now() - path.stat().st_mtime < QUIET
        except OSError:
            return False


class GrowingFile(io.RawIOBase):
    """A file that ends when no more data is expected.

    Reading raises CaptureError if the file was replaced.
    """

    def __init__(self, file: io.FileIO, path: Path, growth: Growth) -> None:
        self._file = file
        self._path = path
        self._growth = growth

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Read available data, at least one byte; 0: the file is complete."""
        while not (read := self._file.readinto(buffer)):
            if not self._growth.more(self._path):
                return self._file.readinto(buffer) or 0
            self._check()
        return read

    def _check(self) -> None:
        position, status = self._file.tell(), os.fstat(self._file.fileno())
        if status.st_size < position:
            raise CaptureError(position, "the file has become shorter")
        with suppress(OSError):  # renamed or deleted
            if not os.path.samestat(status, self._path.stat()):
                raise CaptureError(position, "another file has its name now")


class Prompt(io.BufferedReader):
    """A buffered reader that returns available data at once; `io.BufferedReader` fills its buffer first."""

    def read(self, size: int | None = -1, /) -> bytes:
        """Read available data, for decompressors."""
        return self.read1(MOST if size is None else size)

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Read available data, at least one byte; 0: the file is complete."""
        with memoryview(buffer).cast("B") as view:
            read = self.read1(min(len(view), MOST))
            view[: len(read)] = read
        return len(read)
