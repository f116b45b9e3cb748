"""Correlation ids that belong to nobody."""

from __future__ import annotations

from collections.abc import Sequence

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.frame_map.numbers import WRITE
from barnabas.fuzz.mutating.changes import number
from barnabas.fuzz.mutating.mutator import Mutated, Mutator


def places(fieldmap: FieldMap) -> Sequence[Part]:
    """The one in the header."""
    return [part for part in fieldmap.parts[:4] if part.path == "header.correlation_id"]


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Zero, below zero, at a limit, or any other."""
    new = dice.pick((0, -1, -(2**31), 2**31 - 1, dice.between(-(2**31), 2**31 - 1)))
    if new == part.value:
        new = -2
    return number(fieldmap, part, WRITE["int32"](new), dice, f"{new} instead of {part.value}")


CORRELATION_IDS = Mutator("correlation_ids", "a correlation id of no request", places, apply)
