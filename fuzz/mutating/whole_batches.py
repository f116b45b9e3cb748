"""What the mutators that put other batches in the place of one share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.mutating.changes import change
from barnabas.fuzz.mutating.mutator import Mutated

NOW: Final = 1_500_000_000_000
"""A timestamp, in ms."""


def sets(fieldmap: FieldMap) -> Sequence[Part]:
    """Record sets, empty and null ones too."""
    return [part for part in fieldmap.parts if part.kind == "records"]


def replace(
    fieldmap: FieldMap,
    part: Part,
    batches: bytes,
    dice: SeededRandom,
    detail: str,
    *,
    behind: bool = False,
) -> Mutated:
    """Other batches in the place of a record set, or behind its own."""
    start = part.end if behind else part.start
    return change(fieldmap, part.around, start, part.end, batches, dice, detail)
