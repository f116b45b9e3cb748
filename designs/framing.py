"""Frames out of a stream that a peer sends: an int32 size that does not count itself, then the rest."""

from __future__ import annotations

import struct

_SIZE = struct.Struct(">i")


class Refused(Exception):
    """A stream that can't be taken apart: its connection is to be closed."""


class Frames:
    """Collects what comes, and gives out whole frames without their size.

    >>> frames = Frames(limit=10)
    >>> frames.take(bytes.fromhex("00000001 61 000000")), frames.take(b"\\x00"), frames.take(b"")
    ([b'a'], [b''], [])
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._data = bytearray()

    def take(self, data: bytes) -> list[bytes]:
        """The frames that are whole by now. Raises Refused for one that is larger than the limit."""
        self._data += data
        found, at = [], 0
        while len(self._data) - at >= 4:
            (size,) = _SIZE.unpack_from(self._data, at)
            if not 0 <= size <= self._limit:
                raise Refused(f"a frame of {size} bytes; the most is {self._limit}")
            if len(self._data) - at < 4 + size:
                break
            found.append(bytes(self._data[at + 4 : at + 4 + size]))
            at += 4 + size
        del self._data[:at]
        return found
