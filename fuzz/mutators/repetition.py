"""The same message again: a request that was answered already, a response that nobody asked for."""

from __future__ import annotations

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.mutating.changes import whole
from barnabas.fuzz.mutating.delivery import own
from barnabas.fuzz.mutating.mutator import Mutated, Mutator


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Two to five times, one behind the other."""
    times = dice.between(2, 5)
    return Mutated((own(fieldmap),) * times, f"{times} times")


REPETITION = Mutator("repetition", "the same message several times", whole, apply)
