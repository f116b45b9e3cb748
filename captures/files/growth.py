"""A capture that is still being written: what is read of it waits at its end for more."""

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
"""Seconds without a write after which a capture is over."""

MOST: Final = 1 << 18
"""Bytes that are read at once."""

PAUSE: Final = 0.2
"""Seconds between two looks."""


class Growth:
    """Says whether to look again, after a pause. pause: sleeps so many seconds, True: it is time to stop."""

    def __init__(
        self, pause: Callable[[float], bool], now: Callable[[], float] = time.time
    ) -> None:
        self._pause = pause
        self._now = now

    def more(self, path: Path) -> bool:
        """Whether a file may still get more: it was written to lately, and a segment has its last name."""
        if self._pause(PAUSE):
            return False
        try:
            return self._now() - path.stat().st_mtime < QUIET
        except OSError:
            return False


class GrowingFile(io.RawIOBase):
    """A file that ends when nothing more will come. Reading raises CaptureError if it is another by now."""

    def __init__(self, file: io.FileIO, path: Path, growth: Growth) -> None:
        self._file = file
        self._path = path
        self._growth = growth

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Read what is there, at least a byte; 0: the file is over."""
        while not (read := self._file.readinto(buffer)):
            if not self._growth.more(self._path):
                return self._file.readinto(buffer) or 0
            self._check()
        return read

    def _check(self) -> None:
        here, mine = self._file.tell(), os.fstat(self._file.fileno())
        if mine.st_size < here:
            raise CaptureError(here, "the file has become shorter")
        with suppress(OSError):  # it has got its last name, or is gone
            if not os.path.samestat(mine, self._path.stat()):
                raise CaptureError(here, "another file has its name now")


class Prompt(io.BufferedReader):
    """Gives what there is at once: `io.BufferedReader` waits until what it is to fill is full."""

    def read(self, size: int | None = -1, /) -> bytes:
        """The same for who unpacks it."""
        return self.read1(MOST if size is None else size)

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Read what is there, at least a byte; 0: the file is over."""
        with memoryview(buffer).cast("B") as view:
            read = self.read1(min(len(view), MOST))
            view[: len(read)] = read
        return len(read)
