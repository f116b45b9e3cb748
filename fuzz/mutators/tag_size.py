"""A tag whose size is not that of its data."""

from __future__ import annotations

from typing import Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.mutating.mutator import Mutated, Mutator
from barnabas.fuzz.mutating.tags import append, last_number, sections, tag

_FAR: Final = (2**31 - 1, 2**31 - 2, 2**31, 2**32 - 1, 2**30, 2**24, 1 << 20)


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """One more tag, with a size that lies: by one, to the end of the frame and over, or by far."""
    data = dice.some_bytes(dice.pick((0, 1, 8)))
    remain = len(fieldmap.seed.frame) - part.end + len(data)
    near = (0, max(len(data) - 1, 0), len(data) + 1, remain, remain + 1, 2 * remain + 1)
    size = dice.pick(_FAR if dice.chance(2) else near)
    if size == len(data):
        size += 1
    number = last_number(fieldmap, part) + dice.pick((1, 1, 2, 100))
    detail = f"tag {number} with {len(data)} bytes says {size}"
    return append(fieldmap, part, tag(number, data, size), 1, dice, detail)


TAG_SIZE = Mutator("tag_size", "a tag whose size differs from its data", sections, apply, turns=3)
