"""A frame that ends too early: at the beginning of a field, or within one."""

from __future__ import annotations

from collections.abc import Sequence

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.mutating.mending import ALL, SIZE, splice
from barnabas.fuzz.mutating.mutator import Mutated, Mutator


def places(fieldmap: FieldMap) -> Sequence[Part]:
    """Every part but the frame; those without bytes have the end of the one before."""
    return [part for part in fieldmap.parts[1:] if part.end > part.start]


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Nothing from here on; the frame's size says so, or does not."""
    at = part.start if dice.chance(2) else dice.between(part.start, part.end - 1)
    size = len(fieldmap.seed.frame)
    told = not dice.chance(8)
    chunk = splice(fieldmap, at, size, b"", mend=ALL if told else ALL - SIZE)
    left = "" if told else "; frame size unchanged"
    return Mutated((chunk,), f"{size - at} bytes cut off{left}")


TRUNCATION = Mutator(
    "truncation", "a frame that ends too early", places, apply, turns=2, per="kind"
)
