"""Fields that are missing."""

from __future__ import annotations

from collections.abc import Sequence

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.mutating.changes import change
from barnabas.fuzz.mutating.mutator import Mutated, Mutator


def places(fieldmap: FieldMap) -> Sequence[Part]:
    """All that has bytes, but the frame."""
    return [part for part in fieldmap.parts[1:] if part.end > part.start]


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """What follows comes where it stood. Its own length, if it has one, says what is left of it."""
    size = part.end - part.start
    some = size if size == 1 or dice.chance(2) else dice.between(1, size)
    return change(
        fieldmap,
        part.around,
        part.start,
        part.start + some,
        b"",
        dice,
        f"{some} of {size} bytes gone",
    )


FIELDS_DROPPED = Mutator(
    "fields_dropped", "a field whose bytes are missing", places, apply, turns=2, per="kind"
)
