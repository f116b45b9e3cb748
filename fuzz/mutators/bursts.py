"""Many messages at once, before any is answered."""

from __future__ import annotations

from typing import Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.mutating.changes import whole
from barnabas.fuzz.mutating.delivery import own
from barnabas.fuzz.mutating.mutator import Mutated, Mutator

_TIMES: Final = (10, 50, 50, 200)
_MOST: Final = 512 << 10
"""Bytes of a burst at most."""


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """The same message so often, in one write."""
    chunk = own(fieldmap)
    times = max(min(dice.pick(_TIMES), _MOST // len(chunk)), 1)
    return Mutated((chunk,) * times, f"{times} in one write", "burst")


BURSTS = Mutator("bursts", "many messages sent before the first response", whole, apply)
