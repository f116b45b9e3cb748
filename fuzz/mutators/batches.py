"""Mutators of record sets: batches repeated, empty or of another magic, bombs, nested wrappers."""

from __future__ import annotations

import functools
from typing import Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.generators.batches import batch
from barnabas.fuzz.mutators.mutator import Mutated
from barnabas.fuzz.mutators.splicing import replace
from barnabas.specs.records import Record, build, compress, control_key, marker_value

_NOW: Final = 1_500_000_000_000
"""A timestamp, in ms."""

_EMPTY: Final = build([], base_offset=0, last_offset=0, base_timestamp=_NOW, max_timestamp=_NOW)
_KEPT: Final = 32
"""Batches of each magic, made once."""

_UNPACKED: Final = 32 << 20
"""Bytes that a bomb unpacks to at most."""

_BOMBS: Final = (
    ("gzip", _UNPACKED),
    ("zstd", _UNPACKED),
    ("lz4", _UNPACKED // 4),
    ("snappy", _UNPACKED // 4),
)
"""The last two shrink less: a 250th and a 20th remains."""

_RECORDS: Final = 20_000
_CODECS: Final = ("gzip", "snappy", "lz4")
_DEPTHS: Final = (2, 2, 3, 10, 60)


def other_batches(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Replace a record set with batches that are valid each, or parts of them, or add them after it."""
    batch_version = message.seed.frame[part.start : part.end] or _any(dice, 2)
    following = part._replace(start=part.end)
    match dice.below(8):
        case 0:
            return replace(message, part, batch_version * 2, dice, "the same batches twice")
        case 1:
            return replace(message, part, _EMPTY, dice, "a batch without records")
        case 2:
            magic = dice.below(3)
            other = _any(dice, magic)
            return replace(message, part, other, dice, f"a batch of magic {magic}")
        case 3:
            other = _any(dice, dice.below(3))
            return replace(message, following, other, dice, "one more batch after it")
        case 4:
            marker = _marker(dice.pick(("ABORT", "COMMIT")))
            return replace(message, part, marker, dice, "a control batch")
        case 5:
            cut = batch_version[: dice.between(1, max(len(batch_version) - 1, 1))]
            return replace(
                message, part, cut, dice, f"{len(cut)} bytes of {len(batch_version)} of a batch"
            )
        case 6:
            cut = batch_version[: dice.between(1, max(len(batch_version) - 1, 1))]
            return replace(message, following, cut, dice, "part of a batch after it")
        case _:
            noise = dice.some_bytes(dice.pick((1, 11, 12, 16, 17, 60, 61, 200)))
            return replace(message, part, noise, dice, f"{len(noise)} bytes that are not a batch")


def _any(dice: SeededRandom, magic: int) -> bytes:
    return _batch(magic, dice.below(_KEPT))


@functools.cache
def _batch(magic: int, number: int) -> bytes:
    return batch(SeededRandom("batch", number), magic, 0)


@functools.cache
def _marker(control: str) -> bytes:
    return build(
        [Record(0, _NOW, control_key(control), marker_value(0))],
        is_control=True,
        is_transactional=True,
        producer_id=1,
        producer_epoch=0,
    )


def bomb(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Replace a record set with one packed record of zeros, or with 20,000 records without key and value."""
    codec, size = dice.pick(_BOMBS)
    many = dice.chance(3)
    description = "very many records" if many else f"a record of {size} bytes"
    packed = _many(codec) if many else _large(codec, size)
    return replace(message, part, packed, dice, f"{description} as {codec}, {len(packed)} bytes")


@functools.cache
def _large(codec: str, size: int) -> bytes:
    return build([Record(0, _NOW, None, bytes(size))], compression=codec)


@functools.cache
def _many(codec: str) -> bytes:
    return build([Record(0, _NOW, None, None)] * _RECORDS, compression=codec)


def nested(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Replace a record set with wrappers inside of wrappers, around messages of magic 0, 1 or 2."""
    magic, codec = dice.below(2), dice.pick(_CODECS)
    inner, depth = dice.below(3), dice.pick(_DEPTHS)
    detail = f"{depth} wrappers of magic {magic}, {codec}, around magic {inner}"
    return replace(message, part, _wrapped(magic, codec, inner, depth), dice, detail)


@functools.cache
def _wrapped(magic: int, codec: str, inner: int, depth: int) -> bytes:
    wrapped = build([Record(0, _NOW if inner else -1, None, b"v")], magic=inner)
    shell = Record(0, _NOW if magic else -1, None, b"")
    for _ in range(depth):
        always = functools.partial(_first, compress(codec, wrapped, magic=magic))
        wrapped = build([shell], magic=magic, compression=codec, compressor=always)
    return wrapped


def _first(packed: bytes, data: bytes) -> bytes:
    """Return what is packed already, whatever there is to pack."""
    return packed
