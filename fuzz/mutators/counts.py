"""Counts that lie: of elements, tags, records and their headers."""

from __future__ import annotations

from fuzz.dice import Dice
from fuzz.fieldmap import FieldMap, Part
from fuzz.mutators.changes import of_kinds
from fuzz.mutators.lies import lie
from fuzz.mutators.mutator import Mutated, Mutator


def apply(fieldmap: FieldMap, part: Part, dice: Dice) -> Mutated:
    """Another count, and the same elements."""
    return lie(fieldmap, part, dice)


COUNTS = Mutator(
    "counts", "a count that is not that of the elements", of_kinds(("count",)), apply, turns=4
)
