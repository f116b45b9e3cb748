"""Lengths that lie: of strings, bytes, record sets, tags, batches and records."""

from __future__ import annotations

from barnabas.fuzz.dice import Dice
from barnabas.fuzz.fieldmap import FieldMap, Part
from barnabas.fuzz.mutators.changes import of_kinds
from barnabas.fuzz.mutators.lies import lie
from barnabas.fuzz.mutators.mutator import Mutated, Mutator


def apply(fieldmap: FieldMap, part: Part, dice: Dice) -> Mutated:
    """Another length, and the same bytes."""
    return lie(fieldmap, part, dice)


LENGTHS = Mutator(
    "lengths", "a length that is not that of the bytes", of_kinds(("length",)), apply, turns=4
)
