"""A message that comes byte by byte."""

from __future__ import annotations

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.mutating.changes import whole
from barnabas.fuzz.mutating.delivery import own
from barnabas.fuzz.mutating.mutator import Mutated, Mutator


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """A byte a write."""
    return Mutated((own(fieldmap),), "byte by byte", "bytewise")


BYTEWISE = Mutator("bytewise", "one byte per write", whole, apply)
