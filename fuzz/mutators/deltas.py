"""Deltas of records that go back, or far."""

from __future__ import annotations

from collections.abc import Sequence

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.frame_map.numbers import RANGE, WRITE
from barnabas.fuzz.mutating.changes import number
from barnabas.fuzz.mutating.mutator import Mutated, Mutator


def places(fieldmap: FieldMap) -> Sequence[Part]:
    """The deltas of offsets and timestamps: of each record, and the batch's last."""
    return [part for part in fieldmap.parts if part.path.endswith("_delta")]


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Below zero, one off, far off."""
    low, high = RANGE[part.coding]
    old = part.value
    new = dice.pick((-1, -2, old - 1, old + 1, old + 1000, low, high, high - 1, 0))
    if new == old:
        new = -3
    return number(fieldmap, part, WRITE[part.coding](new), dice, f"{new} instead of {old}")


DELTAS = Mutator("deltas", "a negative or too large delta", places, apply, turns=2)
