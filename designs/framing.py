"""Frames of a byte stream: an int32 size that does not count itself, then the rest."""

from __future__ import annotations

import struct

_SIZE = struct.Struct(">i")


class FramingError(Exception):
    """A stream without valid frames, whose connection must be closed."""


class Frames:
    """A buffer of received bytes that yields whole frames without their size."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._data = bytearray()

    def take(self, data: bytes) -> list[bytes]:
        """Add bytes, and return the frames that are complete. Raises FramingError above the size limit."""
        self._data += data
        frames, at = [], 0
        while len(self._data) - at >= 4:
            (size,) = _SIZE.unpack_from(self._data, at)
            if not 0 <= size <= self._limit:
                raise FramingError(f"a frame of {size} bytes; the most is {self._limit}")
            if len(self._data) - at < 4 + size:
                break
            frames.append(bytes(self._data[at + 4 : at + 4 + size]))
            at += 4 + size
        del self._data[:at]
        return frames
