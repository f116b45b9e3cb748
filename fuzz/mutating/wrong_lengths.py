"""What a length or a count can say instead of the truth."""

from __future__ import annotations

from typing import Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.frame_map.numbers import RANGE, WRITE
from barnabas.fuzz.mutating.changes import number
from barnabas.fuzz.mutating.mutator import Mutated

_WAYS: Final = (
    "0",
    "-1",
    "-2",
    "-100",
    "minus what stands before",
    "the least",
    "the most",
    "one more",
    "one less",
    "all bytes that remain",
    "one more than remain",
    "twice what remains",
    "2^31-1",
    "2^30",
    "2^24",
)


def lie(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Another number in the place of a length or count, while what it speaks of stays as it is."""
    value, coding = part.value, part.coding
    remain = len(fieldmap.seed.frame) - part.end
    low, high = RANGE[coding]
    choice = dice.below(len(_WAYS))
    new = (
        0,
        -1,
        -2,
        -100,
        -part.end,
        low,
        high,
        value + 1,
        value - 1,
        remain,
        remain + 1,
        2 * remain,
        2**31 - 1,
        2**30,
        2**24,
    )[choice]
    way = _WAYS[choice]
    new = low if new < low else high if new > high else new
    if new == value:
        new = value + 2 if value < high - 1 else value - 2
        way = "two off"
    return number(fieldmap, part, WRITE[coding](new), dice, f"{new} ({way}) instead of {value}")
