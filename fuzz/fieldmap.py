"""Where every field of an encoded frame stands: the map that mutators work on.

A frame is mapped once for a seed; a mutation then is a splice of bytes, with the lengths, counts and
checksums around it mended, or deliberately not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from fuzz.case import Seed


class Part(NamedTuple):
    """One field, or one of the numbers that say how long something is or how many there are.

    path: dotted with indices, "header.client_id", "topics[0].partitions[1].records[0].crc"; "" is the
    frame as a whole. kind: "int8" .. "int64", "uint16", "uint32", "varint", "uvarint", "varlong", "bool",
    "float64", "uuid", "string", "bytes", "records", "array", "struct", "tags", "length", "count", "crc",
    "size", and so on. start, end: its bytes in the frame, without a length in front.
    around: indices of the parts that say how long or how many what this stands in is, innermost first.
    """

    path: str
    kind: str
    start: int
    end: int
    nullable: bool = False
    compact: bool = False
    around: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class FieldMap:
    """A seed and its parts, in wire order; a part that holds others comes before them."""

    seed: Seed
    parts: tuple[Part, ...]
