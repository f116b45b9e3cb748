"""Lengths within a batch that go beyond what they stand in: the record, or the batch."""

from __future__ import annotations

from collections.abc import Sequence

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.frame_map.numbers import WRITE
from barnabas.fuzz.mutating.changes import number
from barnabas.fuzz.mutating.mutator import Mutated, Mutator


def places(fieldmap: FieldMap) -> Sequence[Part]:
    """Lengths that a checksum in front of them covers."""
    parts = fieldmap.parts
    return [
        part
        for part in parts
        if part.kind == "length" and any(parts[index].until > part.start for index in part.around)
    ]


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """To the end of the batch, just over it, or so that the next field is a part of this one."""
    parts = fieldmap.parts
    end = next(parts[index].until for index in part.around if parts[index].kind == "crc")
    rest = end - part.end
    near = (max(part.value, 0) + 1, max(part.value, 0) + 2)
    new = dice.pick((rest, rest + 1, rest + 2, rest - 1, rest + 100, *near))
    if new == part.value:
        new += 1
    detail = f"{new} instead of {part.value}, {rest} remain in the batch"
    return number(fieldmap, part, WRITE[part.coding](new), dice, detail)


BEYOND = Mutator(
    "beyond", "a length that extends beyond its record or batch", places, apply, turns=2
)
