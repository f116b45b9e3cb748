"""What a length or a count can say instead of the truth."""

from __future__ import annotations

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.frame_map.numbers import RANGE, WRITE
from barnabas.fuzz.mutating.changes import number
from barnabas.fuzz.mutating.mutator import Mutated


def lie(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Another number in the place of a length or count, while what it speaks of stays as it is."""
    value, coding = part.value, part.coding
    remain = len(fieldmap.seed.frame) - part.end
    low, high = RANGE[coding]
    ways = (
        (0, "0"),
        (-1, "-1"),
        (-2, "-2"),
        (-100, "-100"),
        (-part.end, "minus what stands before"),
        (low, "the least"),
        (high, "the most"),
        (value + 1, "one more"),
        (value - 1, "one less"),
        (remain, "all bytes that remain"),
        (remain + 1, "one more than remain"),
        (2 * remain, "twice what remains"),
        (2**31 - 1, "2^31-1"),
        (2**30, "2^30"),
        (2**24, "2^24"),
    )
    new, way = ways[dice.below(len(ways))]
    new = low if new < low else high if new > high else new
    if new == value:
        new = value + 2 if value < high - 1 else value - 2
        way = "two off"
    return number(fieldmap, part, WRITE[coding](new), dice, f"{new} ({way}) instead of {value}")
