"""Random bytes behind a good header."""

from __future__ import annotations

from collections.abc import Sequence

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.mutating.mending import splice
from barnabas.fuzz.mutating.mutator import Mutated, Mutator


def places(fieldmap: FieldMap) -> Sequence[Part]:
    """The first field of the body."""
    return [part for part in fieldmap.parts[1:] if not part.path.startswith("header.")][:1]


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Any bytes instead of the body, or the same byte all over."""
    size = dice.pick((1, 4, 16, 64, 256, 1024))
    byte = bytes((dice.pick((0x00, 0x01, 0x7F, 0x80, 0xFF)),))
    noise = dice.some_bytes(size) if dice.chance(2) else byte * size
    what = "random bytes" if noise != byte * size else f"bytes of {byte.hex()}"
    chunk = splice(fieldmap, part.start, len(fieldmap.seed.frame), noise)
    return Mutated((chunk,), f"{size} {what} instead of the body")


NOISE = Mutator("noise", "random bytes instead of a body", places, apply)
