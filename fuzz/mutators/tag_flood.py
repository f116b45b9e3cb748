"""Thousands of tags in one section."""

from __future__ import annotations

import functools
from typing import Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.mutating.mutator import Mutated, Mutator
from barnabas.fuzz.mutating.tags import append, sections, tag

_TIMES: Final = (1000, 2000, 5000, 20_000)
_FIRST: Final = 1000
"""Beyond all that any schema has."""


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Ascending ones that nobody knows, without data or with a byte each."""
    times = dice.pick(_TIMES)
    size = dice.below(2)
    detail = f"{times} tags more of {size} bytes each"
    return append(fieldmap, part, _flood(times, size), times, dice, detail)


@functools.cache
def _flood(times: int, size: int) -> bytes:
    data = bytes(size)
    return b"".join(tag(number, data) for number in range(_FIRST, _FIRST + times))


TAG_FLOOD = Mutator("tag_flood", "thousands of tags", sections, apply)
