"""Attributes of batches and records: another codec than the bytes are in, and flags that do not fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.frame_map.numbers import WRITE
from barnabas.fuzz.mutating.changes import number
from barnabas.fuzz.mutating.mutator import Mutated, Mutator

_FLAGS: Final = (0x08, 0x10, 0x20, 0x40, 0x30, 0x80)
"""LogAppendTime, transactional, control, delete horizon, control of a transaction, and none."""


def places(fieldmap: FieldMap) -> Sequence[Part]:
    """Those of batches, messages and records."""
    return [part for part in fieldmap.parts if part.path.endswith("].attributes")]


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """One of the eight codecs of three bits, a flag more or less, or all of them."""
    old = part.value
    codec = (old & ~7) | dice.below(8)
    new = dice.pick((codec, codec, old ^ dice.pick(_FLAGS), -1, 0x7F))
    if new == old:
        new = old ^ 0x07
    new &= 0xFFFF if part.coding == "int16" else 0xFF
    return number(fieldmap, part, WRITE[part.coding](new), dice, f"{new:#x} instead of {old:#x}")


ATTRIBUTES = Mutator(
    "attributes", "another compression codec, or contradictory flags", places, apply, turns=3
)
