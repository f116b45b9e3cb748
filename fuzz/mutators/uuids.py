"""Ids that stand for nothing, for something reserved, or for something else."""

from __future__ import annotations

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.mutating.changes import number, of_kinds
from barnabas.fuzz.mutating.mutator import Mutated, Mutator


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Zero, the metadata log's (1), all ones, one bit off, or any other."""
    old = fieldmap.seed.frame[part.start : part.end]
    flipped = bytes((old[0] ^ 0x01,)) + old[1:]
    choices = (bytes(16), bytes(15) + b"\x01", b"\xff" * 16, flipped, dice.some_bytes(16))
    new = dice.pick(choices)
    if new == old:
        new = flipped
    return number(fieldmap, part, new, dice, f"{new.hex()} instead of {old.hex()}")


UUIDS = Mutator("uuids", "an unknown UUID, or that of something else", of_kinds(("uuid",)), apply)
