"""Elements that are left out."""

from __future__ import annotations

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.mutating.changes import change
from barnabas.fuzz.mutating.elements import counted, elements, extent
from barnabas.fuzz.mutating.mutator import Mutated, Mutator


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """One element less; what counts them is mended."""
    start, end, around = extent(fieldmap, part)
    detail = f"left out, {end - start} bytes"
    return change(fieldmap, around, start, end, b"", dice, detail, elements=-counted(part))


ELEMENTS_DROPPED = Mutator("elements_dropped", "an element missing", elements, apply)
