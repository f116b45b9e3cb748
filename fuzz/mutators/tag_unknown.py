"""Tags that nobody knows; all must be skipped (KIP-482)."""

from __future__ import annotations

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.mutating.mutator import Mutated, Mutator
from barnabas.fuzz.mutating.tags import append, last_number, sections, tag


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """One more tag: the next number, a far one, or one that is negative to Java."""
    last = last_number(fieldmap, part)
    number = dice.pick((last + 1, last + 1, last + 2, 100, 10_000, 2**31 - 1, 2**31, 2**32 - 1))
    data = dice.some_bytes(dice.pick((0, 1, 4, 64, 1000)))
    detail = f"tag {number} with {len(data)} bytes more"
    return append(fieldmap, part, tag(number, data), 1, dice, detail)


TAG_UNKNOWN = Mutator("tag_unknown", "an unknown tag", sections, apply)
