"""Frames whose size is not that of their bytes."""

from __future__ import annotations

import struct
from typing import Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.mutating.changes import whole
from barnabas.fuzz.mutating.mutator import Mutated, Mutator

_SIZE: Final = struct.Struct(">i")
_OTHERS: Final = (
    0,
    1,
    3,
    4,
    7,
    8,
    -1,
    -2,
    -(2**31),
    2**31 - 1,
    (100 << 20) + 1,
    100 << 20,
    64 << 20,
    0x16030100,
    0x47455420,
)
"""Too small for a header, below zero, at the limits of brokers (socket.request.max.bytes is 100 MiB) and
beyond, and what TLS and HTTP begin with."""


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Another size in front of the same bytes."""
    frame = fieldmap.seed.frame
    size = len(frame)
    new = dice.pick((*_OTHERS, size + 1, size - 1, 2 * size))
    if new == size:
        new = size + 2
    return Mutated((_SIZE.pack(new) + frame,), f"size {new} instead of {size}")


FRAME_SIZE = Mutator("frame_size", "a wrong frame size", whole, apply, turns=6)
