"""Null in the place of something: where the schema allows it, and where it does not."""

from __future__ import annotations

from collections.abc import Sequence

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.frame_map.numbers import WRITE
from barnabas.fuzz.mutating.changes import change
from barnabas.fuzz.mutating.mutator import Mutated, Mutator


def places(fieldmap: FieldMap) -> Sequence[Part]:
    """What has a length, a count or a marker and is not null; lengths without a null are left out."""
    parts = fieldmap.parts
    found = []
    for index, part in enumerate(parts):
        if part.kind == "marker" and part.value > 0:
            found.append(part)
        elif part.kind in ("length", "count") and part.value >= 0 and index + 1 < len(parts):
            what = parts[index + 1]
            if what.kind in ("string", "bytes", "records", "array", "packed") and what.around[
                :1
            ] == (index,):
                found.append(part)
    return found


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """The number that stands for null, and no contents."""
    what = fieldmap.parts[fieldmap.index[part.path] + 1]
    null = 0 if part.coding == "uvarint" and part.kind == "marker" else -1
    allowed = "may" if part.nullable else "must not"
    detail = f"null, which it {allowed} be"
    return change(
        fieldmap, part.around, part.start, what.end, WRITE[part.coding](null), dice, detail
    )


NULLS = Mutator("nulls", "null instead of a value", places, apply)
