"""Batches of another magic than their bytes are of, or of one that there is not."""

from __future__ import annotations

from collections.abc import Sequence

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.frame_map.numbers import WRITE
from barnabas.fuzz.mutating.changes import number
from barnabas.fuzz.mutating.mutator import Mutated, Mutator


def places(fieldmap: FieldMap) -> Sequence[Part]:
    """The magic of every batch and message."""
    return [part for part in fieldmap.parts if part.path.endswith("].magic") and part.coding]


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Another one."""
    new = dice.pick((0, 1, 2, 3, 4, 127, -1, -128))
    if new == part.value:
        new = 3
    return number(fieldmap, part, WRITE["int8"](new), dice, f"magic {new} instead of {part.value}")


MAGICS = Mutator(
    "magics", "a magic that differs from the layout of the bytes", places, apply, turns=2
)
