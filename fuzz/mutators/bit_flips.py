"""Some bits turned over, anywhere in a field."""

from __future__ import annotations

from collections.abc import Sequence

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.mutating.changes import change
from barnabas.fuzz.mutating.mutator import Mutated, Mutator


def places(fieldmap: FieldMap) -> Sequence[Part]:
    """All that has bytes."""
    return [part for part in fieldmap.parts if part.end > part.start]


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """One to four bits; checksums around are mended, as always."""
    start, end = part.start, part.end
    size = 8 * (end - start)
    value = old = int.from_bytes(fieldmap.seed.frame[start:end], "big")
    bits = [dice.below(size) for _ in range(dice.between(1, 4))]
    for bit in bits:
        value ^= 1 << (size - 1 - bit)
    if value == old:  # what is turned over twice is as before
        value ^= 1
    new = value.to_bytes(end - start, "big")
    return change(fieldmap, part.around, start, end, new, dice, f"bits {bits} flipped")


BIT_FLIPS = Mutator("bit_flips", "some bits of a field flipped", places, apply, turns=3, per="kind")
