"""The bytes of a file, read ahead into one buffer: what was used makes room for what follows."""

from __future__ import annotations

import io
from typing import Final

AHEAD: Final = 1 << 19
"""Bytes that are read at once: few enough to stay in a processor's cache."""


class ReadBuffer:
    """`data` is what was read; what stands before `at` was used, and is overwritten by the next reading."""

    __slots__ = ("_buffer", "_file", "at", "before", "data")

    def __init__(self, file: io.BufferedIOBase, before: int = 0) -> None:
        self._file = file
        self._buffer = memoryview(bytearray(AHEAD))
        self.data = self._buffer[:0]
        self.at = 0
        self.before = before
        """Bytes of the file before `data`."""

    def has(self, count: int) -> bool:
        """Whether so many bytes stand at `at`; they are read if need be. False: the file ends sooner.

        >>> window = ReadBuffer(io.BytesIO(b"abc"))
        >>> window.has(2), window.has(4), bytes(window.data)
        (True, False, b'abc')
        """
        while len(self.data) - self.at < count:
            rest = self.data[self.at :]
            # who announces more than there is gets no memory for it
            size = max(AHEAD, min(count, 2 * len(rest)))
            if size != len(self._buffer):
                self._buffer = memoryview(bytearray(size))
            self._buffer[: len(rest)] = rest
            read = self._file.readinto(self._buffer[len(rest) :])
            self.before += self.at
            self.at = 0
            self.data = self._buffer[: len(rest) + read]
            if not read:
                return False
        return True
