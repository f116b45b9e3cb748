"""The ways in which Kafka writes a number, each by name, and the numbers that each of them can hold.

"uvarint+1" is a compact length: an unsigned varint of the length and one, so that null is 0 (KIP-482).
"varint" and "varlong" are zigzag varints of 32 and 64 bits, as in records (KIP-98).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final

_MASK32: Final = (1 << 32) - 1
_MASK64: Final = (1 << 64) - 1
_SHORT: Final = tuple(bytes((value,)) for value in range(128))


def _fixed(char: str) -> Callable[[int], bytes]:
    packer = struct.Struct(">" + char)
    mask = (1 << 8 * packer.size) - 1
    pack = packer.pack

    def write(value: int) -> bytes:
        return pack(value & mask)

    return write


def uvarint(value: int) -> bytes:
    """An unsigned varint in its shortest form; below zero as Java has it: in 32 bits.

    >>> uvarint(300).hex(), uvarint(-1).hex()
    ('ac02', 'ffffffff0f')
    """
    if 0 <= value < 128:
        return _SHORT[value]
    if value < 0:
        value &= _MASK32
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _compact(value: int) -> bytes:
    return uvarint(value + 1)


def _varint(value: int) -> bytes:
    return uvarint((value << 1 ^ value >> 31) & _MASK32)


def _varlong(value: int) -> bytes:
    return uvarint((value << 1 ^ value >> 63) & _MASK64)


WRITE: Final[dict[str, Callable[[int], bytes]]] = {
    "bool": _fixed("B"),
    "int8": _fixed("B"),
    "int16": _fixed("H"),
    "uint16": _fixed("H"),
    "int32": _fixed("I"),
    "uint32": _fixed("I"),
    "crc32": _fixed("I"),
    "crc32c": _fixed("I"),
    "int64": _fixed("Q"),
    "float64": _fixed("Q"),
    "uvarint": uvarint,
    "uvarint+1": _compact,
    "varint": _varint,
    "varlong": _varlong,
}
"""What writes a number by the name of its coding; one that does not fit wraps around, as in Java."""

RANGE: Final[dict[str, tuple[int, int]]] = {
    "bool": (0, 1),
    "int8": (-(2**7), 2**7 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "uint16": (0, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "crc32": (0, 2**32 - 1),
    "crc32c": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "float64": (-(2**63), 2**63 - 1),
    "uvarint": (-(2**31), 2**31 - 1),
    "uvarint+1": (-(2**31) - 1, 2**31 - 2),
    "varint": (-(2**31), 2**31 - 1),
    "varlong": (-(2**63), 2**63 - 1),
}
"""The least and the most that a coding holds (of float64: its bits), as Kafka reads it."""

VARINTS: Final = {"uvarint": 5, "uvarint+1": 5, "varint": 5, "varlong": 10}
"""The codings of no fixed size, with the most bytes that Kafka reads (its ByteUtils)."""
