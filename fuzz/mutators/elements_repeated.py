"""Elements that come twice, or very often."""

from __future__ import annotations

from typing import Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.mutating.changes import change
from barnabas.fuzz.mutating.elements import counted, elements, extent
from barnabas.fuzz.mutating.mutator import Mutated, Mutator

_TIMES: Final = (1, 1, 1, 2, 10, 100, 2000)
_MOST: Final = 256 << 10
"""Bytes that are added at most."""


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """The same bytes again behind an element; what counts them is mended."""
    start, end, around = extent(fieldmap, part)
    times = max(min(dice.pick(_TIMES), _MOST // (end - start)), 1)
    again = fieldmap.seed.frame[start:end] * times
    detail = f"{times} times more"
    return change(fieldmap, around, end, end, again, dice, detail, elements=times * counted(part))


ELEMENTS_REPEATED = Mutator("elements_repeated", "an element repeated", elements, apply)
