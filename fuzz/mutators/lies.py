"""What a length or a count can say instead of the truth."""

from __future__ import annotations

from typing import Final

from fuzz.dice import Dice
from fuzz.fieldmap import FieldMap, Part
from fuzz.mutators.changes import number
from fuzz.mutators.mutator import Mutated
from fuzz.numbers import RANGE, WRITE

_WAYS: Final = (
    "0",
    "-1",
    "-2",
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


def lie(fieldmap: FieldMap, part: Part, dice: Dice) -> Mutated:
    """Another number in the place of a length or count, while what it speaks of stays as it is."""
    value, coding = part.value, part.coding
    remain = len(fieldmap.seed.frame) - part.end
    low, high = RANGE[coding]
    way = dice.pick(_WAYS)
    match way:
        case "0":
            new = 0
        case "-1":
            new = -1
        case "-2":
            new = -2
        case "the least":
            new = low
        case "the most":
            new = high
        case "one more":
            new = value + 1
        case "one less":
            new = value - 1
        case "all bytes that remain":
            new = remain
        case "one more than remain":
            new = remain + 1
        case "twice what remains":
            new = 2 * remain
        case "2^31-1":
            new = 2**31 - 1
        case "2^30":
            new = 2**30
        case _:
            new = 2**24
    new = max(low, min(new, high))
    if new == value:
        new = value + 2 if value < high - 1 else value - 2
        way = "two off"
    return number(fieldmap, part, WRITE[coding](new), dice, f"{new} ({way}) instead of {value}")
