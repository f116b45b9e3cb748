"""The same tag twice, which KIP-482 forbids."""

from __future__ import annotations

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.mutating.mutator import Mutated, Mutator
from barnabas.fuzz.mutating.tags import append, count_of, last_number, sections, tag


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """All tags of the section once more; of an empty one, a new tag twice."""
    count = count_of(fieldmap, part)
    if count.value > 0 and dice.chance(2):
        again = fieldmap.seed.frame[count.end : part.end]
        return append(fieldmap, part, again, count.value, dice, "all tags of the section twice")
    number = max(last_number(fieldmap, part), 0) + dice.below(3)
    one = tag(number, dice.some_bytes(dice.below(5)))
    times = dice.pick((2, 2, 3, 50))
    return append(fieldmap, part, one * times, times, dice, f"tag {number} {times} times")


TAG_DUPLICATE = Mutator("tag_duplicate", "the same tag more than once", sections, apply)
