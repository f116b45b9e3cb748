"""The beginning of one message and the end of another."""

from __future__ import annotations

from collections.abc import Sequence

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.generators.messages import kept
from barnabas.fuzz.mutating.mending import splice
from barnabas.fuzz.mutating.mutator import Mutated, Mutator
from barnabas.specs.registry import api


def places(fieldmap: FieldMap) -> Sequence[Part]:
    """The fields that stand in no other, with their lengths: where the first message ends."""
    return [
        part
        for part in fieldmap.parts[1:]
        if not part.around and part.kind in ("length", "count", "tags")
    ]


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """From here on the end of a fresh one of the same API, maybe of another version: so many bytes of it."""
    seed = fieldmap.seed
    low, high = api(seed.key).versions
    version = seed.version if dice.chance(2) else dice.between(low, high)
    other = kept(seed.key, version, seed.direction, dice)
    at = dice.below(len(other))
    if other[at:] == seed.frame[part.start :]:
        at = max(at - 1, 0) if at else 1
    chunk = splice(fieldmap, part.start, len(seed.frame), other[at:])
    return Mutated((chunk,), f"from here on the last {len(other) - at} bytes of one of v{version}")


SPLICES = Mutator(
    "splices",
    "the beginning of one message, the end of another",
    places,
    apply,
    turns=3,
    per="kind",
)
