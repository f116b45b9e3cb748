"""Checksums that do not fit."""

from __future__ import annotations

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.frame_map.numbers import WRITE
from barnabas.fuzz.mutating.changes import number, of_kinds
from barnabas.fuzz.mutating.mutator import Mutated, Mutator


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Zero, all ones, one bit off, or any other."""
    size = part.end - part.start
    most = (1 << 8 * size) - 1
    truth = part.value & most
    choices = (0, most, truth ^ 1, truth ^ (most + 1) // 2, dice.below(1 << 32) & most)
    new = dice.pick(choices)
    if new == truth:
        new ^= 0x10
    detail = f"{new:#0{2 * size + 2}x} instead of {truth:#0{2 * size + 2}x}"
    return number(fieldmap, part, WRITE[part.coding](new), dice, detail)


CHECKSUMS = Mutator("checksums", "a wrong checksum", of_kinds(("crc",)), apply)
