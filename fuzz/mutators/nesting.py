"""Wrappers inside of wrappers: what magic 0 and 1 could hold and never did, and magic 2 inside of them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.mutating.mutator import Mutated, Mutator
from barnabas.fuzz.mutating.whole_batches import NOW, replace, sets
from barnabas.specs.records import Record, build, compress

_CODECS: Final = ("gzip", "snappy", "lz4")
_DEPTHS: Final = (2, 2, 3, 10, 60)


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """A wrapper whose messages are wrappers, so many deep; or a wrapper around a batch of magic 2."""
    magic, codec = dice.below(2), dice.pick(_CODECS)
    inner, depth = dice.below(3), dice.pick(_DEPTHS)
    detail = f"{depth} wrappers of magic {magic}, {codec}, around magic {inner}"
    return replace(fieldmap, part, _nested(magic, codec, inner, depth), dice, detail)


@functools.cache
def _nested(magic: int, codec: str, inner: int, depth: int) -> bytes:
    found = build([Record(0, NOW if inner else -1, None, b"v")], magic=inner)
    shell = Record(0, NOW if magic else -1, None, b"")
    for _ in range(depth):
        packed = compress(codec, found, magic=magic)
        found = build([shell], magic=magic, compression=codec, compressor=_always(packed))
    return found


def _always(packed: bytes) -> Callable[[bytes], bytes]:
    """What packs into these bytes, whatever it is given."""
    return lambda _: packed


NESTING = Mutator(
    "nesting", "compressed wrapper messages inside wrapper messages", sets, apply, turns=2
)
