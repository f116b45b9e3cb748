"""Batches of few bytes that decompress to many."""

from __future__ import annotations

import functools
from typing import Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.mutating.mutator import Mutated, Mutator
from barnabas.fuzz.mutating.whole_batches import NOW, replace, sets
from barnabas.specs.records import Record, build

UNPACKED: Final = 32 << 20
"""Bytes that a bomb unpacks to at most."""

_BOMBS: Final = (
    ("gzip", UNPACKED),
    ("zstd", UNPACKED),
    ("lz4", UNPACKED // 4),
    ("snappy", UNPACKED // 4),
)
"""Those of the last two shrink less: a 250th and a 20th is left."""

_RECORDS: Final = 20_000


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """One record of zeros, packed; or 20,000 without a key and a value."""
    codec, size = dice.pick(_BOMBS)
    many = dice.chance(3)
    what = "very many records" if many else f"a record of {size} bytes"
    bomb = _many(codec) if many else _bomb(codec, size)
    return replace(fieldmap, part, bomb, dice, f"{what} as {codec}, {len(bomb)} bytes")


@functools.cache
def _bomb(codec: str, size: int) -> bytes:
    return build([Record(0, NOW, None, bytes(size))], compression=codec)


@functools.cache
def _many(codec: str) -> bytes:
    """As many records without key and value, each of them 7 bytes."""
    return build([Record(0, NOW, None, None)] * _RECORDS, compression=codec)


BOMBS = Mutator("bombs", "few bytes that decompress to many", sets, apply, turns=2)
