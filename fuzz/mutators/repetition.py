"""The same message again: a request that was answered already, a response that nobody asked for."""

from __future__ import annotations

from barnabas.fuzz.dice import Dice
from barnabas.fuzz.fieldmap import FieldMap, Part
from barnabas.fuzz.mutators.changes import whole
from barnabas.fuzz.mutators.delivering import own
from barnabas.fuzz.mutators.mutator import Mutated, Mutator


def apply(fieldmap: FieldMap, part: Part, dice: Dice) -> Mutated:
    """Two to five times, one behind the other."""
    times = dice.between(2, 5)
    return Mutated((own(fieldmap),) * times, f"{times} times")


REPETITION = Mutator("repetition", "the same message several times", whole, apply)
