"""Mutators of values: numbers at their limits, unknown codes, odd or invalid text, empty or huge values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part, field_of
from barnabas.fuzz.frame_map.numbers import RANGE
from barnabas.fuzz.mutators.mutator import Mutated
from barnabas.fuzz.mutators.splicing import replace, replace_number
from barnabas.specs.error_codes import ERROR_CODES

NUMBERS: Final = (
    "int8", "int16", "uint16", "int32", "uint32", "int64", "float64", "uvarint", "varint", "varlong",
)  # fmt: skip
"""The kinds of fields that hold a number."""

_LAST_ERROR: Final = ERROR_CODES[-1].code
_OF_RECORDS: Final = ("magic", "attributes")
_CONTENTS: Final = frozenset(("string", "bytes", "records", "array", "packed"))

_BROKEN: Final = (
    b"\xff",
    b"\xc0\x80",  # NUL in Java's modified UTF-8
    b"\xc3",
    b"\xe2\x82",
    b"\xed\xa0\x80",  # half a surrogate pair
    b"\xed\xb0\x80\xed\xa0\x80",
    b"\xf4\x90\x80\x80",  # beyond U+10FFFF
    b"\xf8\x88\x80\x80\x80",
    b"\x80" * 20,
)
"""Byte sequences that UTF-8 does not have (RFC 3629)."""

_SIZES: Final = (250, 1000, 1000, 32766, 32767, 32768, 65535, 65536)
"""Around the longest topic name and the longest string, and beyond what an int16 holds."""

_TEXTS: Final = (
    " ",
    ".",
    "..",
    "/",
    "../../x",
    "a\0b",
    "\n",
    "\x1b[31m",
    "%s%n{}${a}",
    "a" * 249,
    "a" * 250,
    "__consumer_offsets",
    "__transaction_state",
    "__cluster_metadata",
    "\u202etopic",
    "\U0001f980",
    "null",
    "-1",
    "2147483648",
    '{"a":',
    "<default>",
    "*",
    ",",
    "::1",
    "[::1]:9092",
)
"""File names, patterns, internal topics, names of 249 letters and more (a topic's longest is 249)."""


def limit(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Write a limit of a number's type, a number next to one, or one near zero."""
    low, high = RANGE[part.coding]
    new = dice.pick((low, low + 1, high, high - 1, high // 2 + 1, 0, -1, 1, -2, part.value ^ 1))
    return replace_number(message, part, dice, new, high if part.value != high else low)


def codes(message: FieldMap) -> Sequence[Part]:
    """Return error codes, and fields of 8 bits: in Kafka's messages all of these are enumerations."""
    return [
        part
        for part in message.parts
        if (part.kind == "int8" and field_of(part.path).rpartition(".")[2] not in _OF_RECORDS)
        or (part.kind == "int16" and part.path.endswith(("error_code", "acks")))
    ]


def other_code(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Write a code that does not exist, or one that does not belong there."""
    choices: tuple[int, ...] = (-128, -2, -1, 0, 3, 5, 13, 31, 64, 127)
    if part.kind == "int16":
        valid_codes = dice.pick(ERROR_CODES).code
        choices = (_LAST_ERROR + 1, _LAST_ERROR + 100, -2, -32768, 32767, valid_codes)
    return replace_number(message, part, dice, dice.pick(choices), -5)


def invalid_utf8(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Put bytes that are no UTF-8 in the place of a text, or somewhere in it."""
    broken = dice.pick(_BROKEN)
    at = dice.between(part.start, part.end)
    if dice.chance(2):
        part = part._replace(start=at, end=at)
    return replace(message, part, broken, dice, f"{broken.hex()} at {part.start}")


def contents(message: FieldMap) -> Sequence[Part]:
    """Return the texts, bytes, record sets and arrays that are not empty."""
    return [part for part in message.parts if part.kind in _CONTENTS and part.end > part.start]


def empty(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Leave no contents: the length is 0, and so is an array's count."""
    elements = -part.value if part.kind == "array" else 0
    detail = f"empty, instead of {part.end - part.start} bytes"
    return replace(message, part, b"", dice, detail, elements)


def huge(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Write very many of one letter; a length that does not fit wraps around."""
    size = dice.pick(_SIZES)
    letter = dice.pick((b"x", b"a", b"\0", b"\xc3\xa4"))
    new = letter * (size // len(letter))
    return replace(message, part, new, dice, f"{len(new)} bytes of {letter!r}")


def odd_text(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Write a text that is valid but unusual."""
    text = dice.pick(_TEXTS)
    new = text.encode()
    if new == message.seed.frame[part.start : part.end]:
        new = b"?"
    detail = f"{text if len(text) < 40 else text[:40] + '…'!r}"
    return replace(message, part, new, dice, detail)


def uuid(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Write the UUID zero, the metadata log's (1), all ones, one with a bit flipped, or any other."""
    old = message.seed.frame[part.start : part.end]
    flipped = bytes((old[0] ^ 0x01,)) + old[1:]
    choices = (bytes(16), bytes(15) + b"\x01", b"\xff" * 16, flipped, dice.some_bytes(16))
    new = dice.pick(choices)
    if new == old:
        new = flipped
    return replace(message, part, new, dice, f"{new.hex()} instead of {old.hex()}")
