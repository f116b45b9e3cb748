"""Mutators of numbers in batches and records: checksums, offsets, magics, attributes."""

from __future__ import annotations

from typing import Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.frame_map.numbers import RANGE, WRITE
from barnabas.fuzz.mutators.mutator import Mutated
from barnabas.fuzz.mutators.splicing import replace, replace_number

HEADER: Final = (
    "].base_offset",
    "].partition_leader_epoch",
    "].base_timestamp",
    "].max_timestamp",
    "].timestamp",
    "].producer_id",
    "].producer_epoch",
    "].base_sequence",
)
"""Fields of a batch's header, of any magic, that can contradict each other."""

_FLAGS: Final = (0x08, 0x10, 0x20, 0x40, 0x30, 0x80)
"""LogAppendTime, transactional, control, delete horizon, control of a transaction, and none."""


def of_batch_header(part: Part) -> bool:
    """Return whether a part is a field of a batch's header."""
    return part.path.endswith(HEADER) and "records[" in part.path and bool(part.coding)


def checksum(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Write the checksum zero, all ones, one with a bit flipped, or any other."""
    size = part.end - part.start
    most = (1 << 8 * size) - 1
    truth = part.value & most
    choices = (0, most, truth ^ 1, truth ^ (most + 1) // 2, dice.below(1 << 32) & most)
    new = dice.pick(choices)
    if new == truth:
        new ^= 0x10
    detail = f"{new:#0{2 * size + 2}x} instead of {truth:#0{2 * size + 2}x}"
    return replace(message, part, WRITE[part.coding](new), dice, detail)


def batch_header(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Write a number where there was none, none where there was one, or one at a limit."""
    low, high = RANGE[part.coding]
    new = dice.pick((-1, 0, 1, 7, low, high, high - 1, part.value + 1, part.value - 1))
    new = max(low, min(new, high))
    return replace_number(message, part, dice, new, 12 if part.value != 12 else 13)


def delta(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Write a delta of an offset or a timestamp that is below zero, one off, or far off."""
    low, high = RANGE[part.coding]
    old = part.value
    new = dice.pick((-1, -2, old - 1, old + 1, old + 1000, low, high, high - 1, 0))
    return replace_number(message, part, dice, new, -3)


def magic(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Write another magic than the bytes are of, or one that does not exist."""
    return replace_number(
        message, part, dice, dice.pick((0, 1, 2, 3, 4, 127, -1, -128)), 3, "magic "
    )


def attributes(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Write one of the eight codecs of three bits, a flag more or less, or all flags."""
    old = part.value
    codec = (old & ~7) | dice.below(8)
    new = dice.pick((codec, codec, old ^ dice.pick(_FLAGS), -1, 0x7F))
    if new == old:
        new = old ^ 0x07
    new &= 0xFFFF if part.coding == "int16" else 0xFF
    return replace(message, part, WRITE[part.coding](new), dice, f"{new:#x} instead of {old:#x}")
