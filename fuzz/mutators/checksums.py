"""Checksums that do not fit."""

from __future__ import annotations

from barnabas.fuzz.dice import Dice
from barnabas.fuzz.fieldmap import FieldMap, Part
from barnabas.fuzz.mutators.changes import number, of_kinds
from barnabas.fuzz.mutators.mutator import Mutated, Mutator
from barnabas.fuzz.numbers import WRITE


def apply(fieldmap: FieldMap, part: Part, dice: Dice) -> Mutated:
    """Zero, all ones, one bit off, or any other."""
    truth = part.value & 0xFFFFFFFF
    choices = (0, 0xFFFFFFFF, truth ^ 1, truth ^ 0x80000000, dice.below(1 << 32))
    new = dice.pick(choices)
    if new == truth:
        new ^= 0x10
    detail = f"{new:#010x} instead of {truth:#010x}"
    return number(fieldmap, part, WRITE["uint32"](new), dice, detail)


CHECKSUMS = Mutator("checksums", "a wrong checksum", of_kinds(("crc",)), apply)
