"""Varints that are longer than they need be, do not end, or hold more than they may."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.frame_map.numbers import VARINTS
from barnabas.fuzz.mutating.changes import number
from barnabas.fuzz.mutating.mutator import Mutated, Mutator

_WAYS: Final = (
    "overlong",
    "as long as Kafka reads",
    "too long",
    "without an end",
    "maximal",
    "beyond",
)


def places(fieldmap: FieldMap) -> Sequence[Part]:
    """All numbers that are written as varints."""
    return [part for part in fieldmap.parts if part.coding in VARINTS]


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """The same number in more bytes, or bytes that are no number at all."""
    most = VARINTS[part.coding]
    old = fieldmap.seed.frame[part.start : part.end]
    way = dice.pick(_WAYS)
    match way:
        case "overlong":
            new = _padded(old, len(old) + 1)
        case "as long as Kafka reads":
            new = _padded(old, most)
        case "too long":
            new = _padded(old, most + dice.between(1, 6))
        case "without an end":
            new = b"\xff" * most
        case "maximal":
            new = b"\xff" * (most - 1) + (b"\x0f" if most == 5 else b"\x01")
        case _:  # bits that neither an int32 nor an int64 has
            new = b"\xff" * (most - 1) + b"\x7f"
    if new == old:
        new = _padded(old, len(old) + 1)
    return number(fieldmap, part, new, dice, f"a varint {way}: {new.hex()} instead of {old.hex()}")


def _padded(data: bytes, size: int) -> bytes:
    """The same number in so many bytes."""
    if size <= len(data):
        size = len(data) + 1
    more = size - len(data) - 1
    return data[:-1] + bytes((data[-1] | 0x80,)) + b"\x80" * more + b"\0"


VARINT_FORMS = Mutator(
    "varints", "a varint that is overlong, unterminated or maximal", places, apply, turns=2
)
