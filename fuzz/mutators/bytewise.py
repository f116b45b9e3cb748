"""A message that comes byte by byte."""

from __future__ import annotations

from barnabas.fuzz.dice import Dice
from barnabas.fuzz.fieldmap import FieldMap, Part
from barnabas.fuzz.mutators.changes import whole
from barnabas.fuzz.mutators.delivering import own
from barnabas.fuzz.mutators.mutator import Mutated, Mutator


def apply(fieldmap: FieldMap, part: Part, dice: Dice) -> Mutated:
    """A byte a write."""
    return Mutated((own(fieldmap),), "byte by byte", "bytewise")


BYTEWISE = Mutator("bytewise", "a byte a write", whole, apply)
