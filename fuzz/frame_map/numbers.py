"""The encodings of numbers by name, and the range of each.

"uvarint+1" is a compact length: an unsigned varint of the length plus one, so that null is 0 (KIP-482).
"varint" and "varlong" are zigzag varints of 32 and 64 bits, as in records (KIP-98). Names that end in "le"
are little-endian, as in containers of compressed bytes. "literal" is a tag of snappy. "uint24le>>3+5" is in
the upper 21 bits of 24, with 5 in the lower three.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final, NamedTuple

from barnabas.specs.codec.careful_encoder import uvarint
from barnabas.specs.containers.snappy import literal_tag

_MASK32: Final = (1 << 32) - 1
_MASK64: Final = (1 << 64) - 1


class _Coding(NamedTuple):
    """The writer of a number, and its minimum and maximum as Kafka reads it."""

    write: Callable[[int], bytes]
    least: int
    most: int


def _unsigned(char: str, order: str = ">") -> _Coding:
    packer = struct.Struct(order + char)
    mask = (1 << 8 * packer.size) - 1
    pack = packer.pack

    def write(value: int) -> bytes:
        return pack(value & mask)

    return _Coding(write, 0, mask)


def _signed(char: str, order: str = ">") -> _Coding:
    write, _, mask = _unsigned(char, order)
    return _Coding(write, ~mask >> 1, mask >> 1)


def _compact(value: int) -> bytes:
    return uvarint(value + 1)


def _varint(value: int) -> bytes:
    return uvarint((value << 1 ^ value >> 31) & _MASK32)


def _varlong(value: int) -> bytes:
    return uvarint((value << 1 ^ value >> 63) & _MASK64)


def _above(bits: int, low: int) -> Callable[[int], bytes]:
    """Return a writer of three bytes, in which the number is above some bits with another value."""
    return lambda value: (value << bits & 0xFFFFFF | low).to_bytes(3, "little")


def shifted(coding: str, bits: int, low: int) -> str:
    """Return the name of a coding above some bits."""
    return f"{coding}>>{bits}+{low}"


_CODINGS: Final[dict[str, _Coding]] = {
    "bool": _unsigned("B")._replace(most=1),
    "int8": _signed("B"),
    "int16": _signed("H"),
    "uint16": _unsigned("H"),
    "int32": _signed("I"),
    "uint32": _unsigned("I"),
    "crc32": _unsigned("I"),
    "crc32c": _unsigned("I"),
    "int64": _signed("Q"),
    "float64": _signed("Q"),
    "uvarint": _Coding(uvarint, -(2**31), 2**31 - 1),
    "uvarint+1": _Coding(_compact, -(2**31) - 1, 2**31 - 2),
    "varint": _Coding(_varint, -(2**31), 2**31 - 1),
    "varlong": _Coding(_varlong, -(2**63), 2**63 - 1),
    "uint8": _unsigned("B"),
    "uint16le": _unsigned("H", "<"),
    "uint32le": _unsigned("I", "<"),
    "int64le": _signed("Q", "<"),
    "crc16le": _unsigned("H", "<"),
    "crc32le": _unsigned("I", "<"),
    "xxh32": _unsigned("B"),
    "xxh32le": _unsigned("I", "<"),
    "xxh64le": _unsigned("I", "<"),
    "literal": _Coding(literal_tag, 1, 2**32),
    # the headers of zstd's blocks
    **{shifted("uint24le", 3, low): _Coding(_above(3, low), 0, 2**21 - 1) for low in range(8)},
}

WRITE: Final = {name: coding.write for name, coding in _CODINGS.items()}
"""Writers of numbers by coding; a number that does not fit wraps around, as in Java."""

RANGE: Final = {name: (coding.least, coding.most) for name, coding in _CODINGS.items()}
"""The minimum and maximum of each coding (of float64: its bits), as Kafka reads it."""

VARINTS: Final = {"uvarint": 5, "uvarint+1": 5, "varint": 5, "varlong": 10}
"""The codings without a fixed size, with the maximal number of bytes that Kafka reads (its ByteUtils)."""
