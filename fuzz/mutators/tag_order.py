"""Tags in descending order; KIP-482 wants them ascending."""

from __future__ import annotations

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.mutating.mutator import Mutated, Mutator
from barnabas.fuzz.mutating.tags import append, last_number, sections, tag


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Two tags or more behind those that are there, each lower than the one before."""
    high = last_number(fieldmap, part) + dice.between(5, 200)
    step = dice.between(1, 2)
    numbers = [high - step * turn for turn in range(dice.between(2, 3))]
    tags = b"".join(tag(number, dice.some_bytes(dice.below(4))) for number in numbers)
    detail = f"tags {', '.join(map(str, numbers))} in this order"
    return append(fieldmap, part, tags, len(numbers), dice, detail)


TAG_ORDER = Mutator("tag_order", "tags in descending order", sections, apply)
