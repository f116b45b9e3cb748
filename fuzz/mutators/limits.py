"""Numbers at the limits of their types, and around zero."""

from __future__ import annotations

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.frame_map.numbers import RANGE, WRITE
from barnabas.fuzz.mutating.changes import NUMBERS, number, of_kinds
from barnabas.fuzz.mutating.mutator import Mutated, Mutator


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """A limit of the type, a number beside one, or one near zero."""
    low, high = RANGE[part.coding]
    choices = (low, low + 1, high, high - 1, high // 2 + 1, 0, -1, 1, -2, part.value ^ 1)
    new = dice.pick(choices)
    if new == part.value:
        new = high if part.value != high else low
    detail = f"{new} instead of {part.value}"
    return number(fieldmap, part, WRITE[part.coding](new), dice, detail)


LIMITS = Mutator("limits", "a number at a limit of its type", of_kinds(NUMBERS), apply, turns=3)
