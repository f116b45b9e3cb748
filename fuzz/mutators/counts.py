"""Counts that lie: of elements, tags, records and their headers."""

from __future__ import annotations

from barnabas.fuzz.dice import Dice
from barnabas.fuzz.fieldmap import FieldMap, Part
from barnabas.fuzz.mutators.changes import of_kinds
from barnabas.fuzz.mutators.lies import lie
from barnabas.fuzz.mutators.mutator import Mutated, Mutator


def apply(fieldmap: FieldMap, part: Part, dice: Dice) -> Mutated:
    """Another count, and the same elements."""
    return lie(fieldmap, part, dice)


COUNTS = Mutator(
    "counts", "a count that is not that of the elements", of_kinds(("count",)), apply, turns=4
)
