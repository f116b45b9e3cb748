"""Text that is no UTF-8."""

from __future__ import annotations

from typing import Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.mutating.changes import change, of_kinds
from barnabas.fuzz.mutating.mutator import Mutated, Mutator

BROKEN: Final = (
    b"\xff",
    b"\xc0\x80",  # Java's modified UTF-8 has NUL so
    b"\xc3",
    b"\xe2\x82",
    b"\xed\xa0\x80",  # half a surrogate pair
    b"\xed\xb0\x80\xed\xa0\x80",
    b"\xf4\x90\x80\x80",  # beyond U+10FFFF
    b"\xf8\x88\x80\x80\x80",
    b"\x80" * 20,
)
"""Byte sequences that UTF-8 does not have (RFC 3629)."""


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Broken bytes instead of the text, or somewhere in it."""
    broken = dice.pick(BROKEN)
    at = dice.between(part.start, part.end)
    start, end = (at, at) if dice.chance(2) else (part.start, part.end)
    return change(fieldmap, part.around, start, end, broken, dice, f"{broken.hex()} at {start}")


INVALID_UTF8 = Mutator("invalid_utf8", "text that is not UTF-8", of_kinds(("string",)), apply)
