"""The ways in which Kafka writes a number, each by name, and the numbers that each of them can hold.

"uvarint+1" is a compact length: an unsigned varint of the length and one, so that null is 0 (KIP-482).
"varint" and "varlong" are zigzag varints of 32 and 64 bits, as in records (KIP-98). What ends in "le" is
little-endian, as containers of compressed bytes have it; "literal" is a tag of snappy; "uint24le>>3+5" stands
in the upper 21 bits of 24, with 5 in the lower three.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final

from barnabas.specs.containers.snappy import literal_tag

_MASK32: Final = (1 << 32) - 1
_MASK64: Final = (1 << 64) - 1
_SHORT: Final = tuple(bytes((value,)) for value in range(128))


def _fixed(char: str, order: str = ">") -> Callable[[int], bytes]:
    packer = struct.Struct(order + char)
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


def _above(bits: int, low: int) -> Callable[[int], bytes]:
    """In three bytes, above so many bits that hold something else."""
    return lambda value: (value << bits & 0xFFFFFF | low).to_bytes(3, "little")


def shifted(coding: str, bits: int, low: int) -> str:
    """The name of a coding above some bits."""
    return f"{coding}>>{bits}+{low}"


_BLOCKS: Final = {shifted("uint24le", 3, low): _above(3, low) for low in range(8)}
"""The headers of zstd's blocks."""

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
    "uint8": _fixed("B"),
    "uint16le": _fixed("H", "<"),
    "uint32le": _fixed("I", "<"),
    "int64le": _fixed("Q", "<"),
    "crc16le": _fixed("H", "<"),
    "crc32le": _fixed("I", "<"),
    "xxh32": _fixed("B"),
    "xxh32le": _fixed("I", "<"),
    "xxh64le": _fixed("I", "<"),
    "literal": literal_tag,
    **_BLOCKS,
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
    "uint8": (0, 2**8 - 1),
    "uint16le": (0, 2**16 - 1),
    "uint32le": (0, 2**32 - 1),
    "int64le": (-(2**63), 2**63 - 1),
    "crc16le": (0, 2**16 - 1),
    "crc32le": (0, 2**32 - 1),
    "xxh32": (0, 2**8 - 1),
    "xxh32le": (0, 2**32 - 1),
    "xxh64le": (0, 2**32 - 1),
    "literal": (1, 2**32),
    **dict.fromkeys(_BLOCKS, (0, 2**21 - 1)),
}
"""The least and the most that a coding holds (of float64: its bits), as Kafka reads it."""

VARINTS: Final = {"uvarint": 5, "uvarint+1": 5, "varint": 5, "varlong": 10}
"""The codings of no fixed size, with the most bytes that Kafka reads (its ByteUtils)."""
