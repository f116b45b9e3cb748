"""Counts that lie: of elements, tags, records and their headers."""

from __future__ import annotations

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.mutating.changes import of_kinds
from barnabas.fuzz.mutating.mutator import Mutated, Mutator
from barnabas.fuzz.mutating.wrong_lengths import lie


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Another count, and the same elements."""
    return lie(fieldmap, part, dice)


COUNTS = Mutator(
    "counts",
    "a count that differs from the number of elements",
    of_kinds(("count",)),
    apply,
    turns=4,
)
