"""Checksums that do not fit."""

from __future__ import annotations

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.frame_map.numbers import WRITE
from barnabas.fuzz.mutating.changes import number, of_kinds
from barnabas.fuzz.mutating.mutator import Mutated, Mutator


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Zero, all ones, one bit off, or any other."""
    truth = part.value & 0xFFFFFFFF
    choices = (0, 0xFFFFFFFF, truth ^ 1, truth ^ 0x80000000, dice.below(1 << 32))
    new = dice.pick(choices)
    if new == truth:
        new ^= 0x10
    detail = f"{new:#010x} instead of {truth:#010x}"
    return number(fieldmap, part, WRITE["uint32"](new), dice, detail)


CHECKSUMS = Mutator("checksums", "a wrong checksum", of_kinds(("crc",)), apply)
