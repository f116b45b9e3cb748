"""Elements that are left out."""

from __future__ import annotations

from barnabas.fuzz.dice import Dice
from barnabas.fuzz.fieldmap import FieldMap, Part
from barnabas.fuzz.mutators.changes import change
from barnabas.fuzz.mutators.elements import counted, elements, extent
from barnabas.fuzz.mutators.mutator import Mutated, Mutator


def apply(fieldmap: FieldMap, part: Part, dice: Dice) -> Mutated:
    """One element less; what counts them is mended."""
    start, end, around = extent(fieldmap, part)
    detail = f"left out, {end - start} bytes"
    return change(fieldmap, around, start, end, b"", dice, detail, elements=-counted(part))


ELEMENTS_DROPPED = Mutator("elements_dropped", "an element left out", elements, apply)
