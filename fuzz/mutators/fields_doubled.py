"""Fields that come twice."""

from __future__ import annotations

from typing import Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.mutating.changes import change
from barnabas.fuzz.mutating.mutator import Mutated, Mutator
from barnabas.fuzz.mutators.fields_dropped import places
from barnabas.plural import plural

_MOST: Final = 128 << 10


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """The same bytes again, right behind."""
    again = fieldmap.seed.frame[part.start : part.end][:_MOST]
    detail = f"{plural(len(again), 'byte')} again"
    return change(fieldmap, part.around, part.end, part.end, again, dice, detail)


FIELDS_DOUBLED = Mutator(
    "fields_doubled", "the bytes of a field repeated", places, apply, per="kind"
)
