"""Lengths that lie: of strings, bytes, record sets, tags, batches and records."""

from __future__ import annotations

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.mutating.changes import of_kinds
from barnabas.fuzz.mutating.mutator import Mutated, Mutator
from barnabas.fuzz.mutating.wrong_lengths import lie


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Another length, and the same bytes."""
    return lie(fieldmap, part, dice)


LENGTHS = Mutator(
    "lengths",
    "a length that differs from the number of bytes",
    of_kinds(("length",)),
    apply,
    turns=4,
)
