"""The exception of generated decoders for irregular bytes, and the varints that they read."""

from __future__ import annotations


class Irregular(Exception):
    """Bytes that the fast decoder leaves to the careful one."""


def uvarint_from(data: bytes, at: int) -> tuple[int, int]:
    """Return the unsigned varint at an offset, and the next offset. Raises Irregular, IndexError."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value >> 31:
                raise Irregular
            return value, at
        shift += 7
        if shift > 28:
            raise Irregular
