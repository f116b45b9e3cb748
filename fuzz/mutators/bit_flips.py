"""Some bits turned over, anywhere in a field."""

from __future__ import annotations

from collections.abc import Sequence

from fuzz.dice import Dice
from fuzz.fieldmap import FieldMap, Part
from fuzz.mutators.changes import change
from fuzz.mutators.mutator import Mutated, Mutator


def places(fieldmap: FieldMap) -> Sequence[Part]:
    """All that has bytes."""
    return [part for part in fieldmap.parts if part.end > part.start]


def apply(fieldmap: FieldMap, part: Part, dice: Dice) -> Mutated:
    """One to four bits; checksums around are mended, as always."""
    data = bytearray(fieldmap.seed.frame[part.start : part.end])
    bits = {dice.below(8 * len(data)) for _ in range(dice.between(1, 4))}
    for bit in bits:
        data[bit >> 3] ^= 1 << (bit & 7)
    where = ", ".join(str(bit) for bit in sorted(bits))
    return change(
        fieldmap, part.around, part.start, part.end, bytes(data), dice, f"bits {where} turned over"
    )


BIT_FLIPS = Mutator(
    "bit_flips", "some bits of a field turned over", places, apply, turns=3, per="kind"
)
