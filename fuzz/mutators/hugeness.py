"""Text and bytes that are very long."""

from __future__ import annotations

from typing import Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.mutating.changes import change, of_kinds
from barnabas.fuzz.mutating.mutator import Mutated, Mutator

_SIZES: Final = (250, 1000, 1000, 32766, 32767, 32768, 65535, 65536)
"""Around the longest topic name and the longest string, and beyond what an int16 holds."""


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """So much of one letter; a length that does not fit wraps around."""
    size = dice.pick(_SIZES)
    letter = dice.pick((b"x", b"a", b"\0", b"\xc3\xa4"))
    new = letter * (size // len(letter))
    detail = f"{len(new)} bytes of {letter!r}"
    return change(fieldmap, part.around, part.start, part.end, new, dice, detail)


HUGENESS = Mutator("hugeness", "long text and bytes", of_kinds(("string", "bytes")), apply)
