"""A side that will not say more, in the middle of a message or behind it."""

from __future__ import annotations

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.mutating.changes import whole
from barnabas.fuzz.mutating.delivery import own
from barnabas.fuzz.mutating.mutator import Mutated, Mutator


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """All of it, or the first bytes, and then half a close."""
    chunk = own(fieldmap)
    sent = len(chunk) if dice.chance(3) else dice.between(1, len(chunk) - 1)
    return Mutated((chunk[:sent],), f"{sent} of {len(chunk)} bytes, then half-closed", "half_open")


HALF_OPEN = Mutator(
    "half_open", "the connection half-closed, within the message or after it", whole, apply
)
