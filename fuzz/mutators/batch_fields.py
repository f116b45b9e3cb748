"""Headers of batches that contradict each other: offsets, sequences, producers, timestamps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.frame_map.numbers import RANGE, WRITE
from barnabas.fuzz.mutating.changes import number
from barnabas.fuzz.mutating.mutator import Mutated, Mutator

_NAMES: Final = (
    "].base_offset",
    "].partition_leader_epoch",
    "].base_timestamp",
    "].max_timestamp",
    "].timestamp",
    "].producer_id",
    "].producer_epoch",
    "].base_sequence",
)


def places(fieldmap: FieldMap) -> Sequence[Part]:
    """Those fields of the batches of any magic."""
    return [
        part
        for part in fieldmap.parts
        if part.path.endswith(_NAMES) and "records[" in part.path and part.coding
    ]


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """There where there was none, none where there was one, or at a limit."""
    low, high = RANGE[part.coding]
    new = dice.pick((-1, 0, 1, 7, low, high, high - 1, part.value + 1, part.value - 1))
    new = max(low, min(new, high))
    if new == part.value:
        new = 12 if part.value != 12 else 13
    detail = f"{new} instead of {part.value}"
    return number(fieldmap, part, WRITE[part.coding](new), dice, detail)


BATCH_FIELDS = Mutator(
    "batch_fields", "a batch header that contradicts its batch", places, apply, turns=2
)
