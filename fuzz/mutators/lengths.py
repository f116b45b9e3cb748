"""Mutators of lengths and counts: wrong numbers, null, or an odd encoding."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.frame_map.numbers import RANGE, VARINTS, WRITE
from barnabas.fuzz.mutators.mutator import Mutated
from barnabas.fuzz.mutators.splicing import replace
from barnabas.specs.codec.careful_encoder import uvarint

_MEASURED: Final = ("string", "bytes", "records", "array", "packed")
_FORMS: Final = (
    "overlong",
    "as long as Kafka reads",
    "too long",
    "without an end",
    *(f"2^{bits}" for bits in (31, 32, 33, 62, 63)),
    *(f"2^{bits}-1" for bits in (32, 35, 40, 48, 56, 63, 64)),
)
"""Kafka reads the lower 32 bits of a varint of 5 bytes; other readers take up to 64 bits as a size."""
_SIZE: Final = struct.Struct(">i")
_SIZES: Final = (
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


def wrong_number(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Write another length or count, while what it is about stays as it is."""
    value, coding = part.value, part.coding
    remain = len(message.seed.frame) - part.end
    low, high = RANGE[coding]
    variants = (
        (0, "0"),
        (-1, "-1"),
        (-2, "-2"),
        (-100, "-100"),
        (-part.end, "minus what stands before"),
        (low, "the least"),
        (high, "the most"),
        (value + 1, "one more"),
        (value - 1, "one less"),
        (remain, "all bytes that remain"),
        (remain + 1, "one more than remain"),
        (2 * remain, "twice what remains"),
        (2**31 - 1, "2^31-1"),
        (2**30, "2^30"),
        (2**24, "2^24"),
    )
    new, variant = dice.pick(variants)
    new = low if new < low else high if new > high else new
    if new == value:
        new = value + 2 if value < high - 1 else value - 2
        variant = "two off"
    detail = f"{new} ({variant}) instead of {value}"
    return replace(message, part, WRITE[coding](new), dice, detail)


def in_batches(message: FieldMap) -> Sequence[Part]:
    """Return the lengths that a checksum in front of them covers."""
    parts = message.parts
    return [
        part
        for part in parts
        if part.kind == "length" and any(parts[index].until > part.start for index in part.around)
    ]


def beyond(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Extend a length to the end of the batch, just beyond it, or into the next field."""
    parts = message.parts
    end = next(parts[index].until for index in part.around if parts[index].kind == "crc")
    rest = end - part.end
    near = (max(part.value, 0) + 1, max(part.value, 0) + 2)
    new = dice.pick((rest, rest + 1, rest + 2, rest - 1, rest + 100, *near))
    if new == part.value:
        new += 1
    detail = f"{new} instead of {part.value}, {rest} remain in the batch"
    return replace(message, part, WRITE[part.coding](new), dice, detail)


def not_null(message: FieldMap) -> Sequence[Part]:
    """Return the markers, and the lengths and counts right before what they are about, that are not null."""
    parts = message.parts
    nullable_parts = []
    for index, part in enumerate(parts):
        if part.kind == "marker" and part.value > 0:
            nullable_parts.append(part)
        elif part.kind in ("length", "count") and part.value >= 0 and index + 1 < len(parts):
            content = parts[index + 1]
            if content.kind in _MEASURED and content.around[:1] == (index,):
                nullable_parts.append(part)
    return nullable_parts


def null(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Write the number that stands for null, and no contents."""
    content = message.parts[message.index[part.path] + 1]
    number = 0 if part.coding == "uvarint" and part.kind == "marker" else -1
    detail = f"null, which it {'may' if part.nullable else 'must not'} be"
    both = part._replace(end=content.end)
    return replace(message, both, WRITE[part.coding](number), dice, detail)


def odd_varint(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Write the same number in more bytes, or bytes that are no number at all."""
    most = VARINTS[part.coding]
    old = message.seed.frame[part.start : part.end]
    form = dice.pick(_FORMS)
    match form:
        case "overlong":
            new = _padded(old, len(old) + 1)
        case "as long as Kafka reads":
            new = _padded(old, most)
        case "too long":
            new = _padded(old, most + dice.between(1, 6))
        case "without an end":
            new = b"\xff" * most
        case _:
            power, _, less = form.removeprefix("2^").partition("-")
            new = uvarint((1 << int(power)) - (1 if less else 0))
    if new == old:
        new = _padded(old, len(old) + 1)
    detail = f"a varint {form}: {new.hex()} instead of {old.hex()}"
    return replace(message, part, new, dice, detail)


def _padded(data: bytes, size: int) -> bytes:
    """Write a varint in this many bytes, at least one more than it had."""
    more = max(size - len(data), 1) - 1
    return data[:-1] + bytes((data[-1] | 0x80,)) + b"\x80" * more + b"\0"


def frame_size(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Write another size in front of the same frame."""
    frame = message.seed.frame
    size = len(frame)
    new = dice.pick((*_SIZES, size + 1, size - 1, 2 * size))
    if new == size:
        new = size + 2
    return Mutated((_SIZE.pack(new) + frame,), f"size {new} instead of {size}")
