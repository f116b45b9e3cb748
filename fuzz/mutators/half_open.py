"""A side that will not say more, in the middle of a message or behind it."""

from __future__ import annotations

from barnabas.fuzz.dice import Dice
from barnabas.fuzz.fieldmap import FieldMap, Part
from barnabas.fuzz.mutators.changes import whole
from barnabas.fuzz.mutators.delivering import own
from barnabas.fuzz.mutators.mutator import Mutated, Mutator


def apply(fieldmap: FieldMap, part: Part, dice: Dice) -> Mutated:
    """All of it, or the first bytes, and then half a close."""
    chunk = own(fieldmap)
    sent = len(chunk) if dice.chance(3) else dice.between(1, len(chunk) - 1)
    return Mutated((chunk[:sent],), f"{sent} of {len(chunk)} bytes, then half-closed", "half_open")


HALF_OPEN = Mutator("half_open", "no more bytes, in the middle or behind", whole, apply)
