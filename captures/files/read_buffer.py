"""Read a file ahead into one buffer that reuses the memory of used bytes."""

from __future__ import annotations

import io
from typing import Final

AHEAD: Final = 1 << 19
"""Bytes of one read: few enough for a processor's cache."""


class ReadBuffer:
    """A buffer that reads a file ahead: `data` was read, and bytes before `at` were used.

    The next read overwrites used bytes.
    """

    __slots__ = ("_buffer", "_file", "at", "before", "data")

    def __init__(self, file: io.BufferedIOBase, before: int = 0) -> None:
        self._file = file
        self._buffer = memoryview(bytearray(AHEAD))
        self.data = self._buffer[:0]
        self.at = 0
        self.before = before
        """Bytes of the file before `data`."""

    def has(self, count: int) -> bool:
        """Read until `count` bytes follow `at`, and return whether the file has them.

        >>> window = ReadBuffer(io.BytesIO(b"abc"))
        >>> window.has(2), window.has(4), bytes(window.data)
        (True, False, b'abc')
        """
        while len(self.data) - self.at < count:
            rest = self.data[self.at :]
            # a false length must not allocate more memory than the file fills
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
