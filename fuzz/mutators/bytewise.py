"""A message that comes byte by byte."""

from __future__ import annotations

from fuzz.dice import Dice
from fuzz.fieldmap import FieldMap, Part
from fuzz.mutators.changes import whole
from fuzz.mutators.delivering import own
from fuzz.mutators.mutator import Mutated, Mutator


def apply(fieldmap: FieldMap, part: Part, dice: Dice) -> Mutated:
    """A byte a write."""
    return Mutated((own(fieldmap),), "byte by byte", "bytewise")


BYTEWISE = Mutator("bytewise", "a byte a write", whole, apply)
