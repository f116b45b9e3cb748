"""The same message again: a request that was answered already, a response that nobody asked for."""

from __future__ import annotations

from fuzz.dice import Dice
from fuzz.fieldmap import FieldMap, Part
from fuzz.mutators.changes import whole
from fuzz.mutators.delivering import own
from fuzz.mutators.mutator import Mutated, Mutator


def apply(fieldmap: FieldMap, part: Part, dice: Dice) -> Mutated:
    """Two to five times, one behind the other."""
    times = dice.between(2, 5)
    return Mutated((own(fieldmap),) * times, f"{times} times")


REPETITION = Mutator("repetition", "the same message several times", whole, apply)
