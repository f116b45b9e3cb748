"""Zstandard frames (RFC 8878)."""

from __future__ import annotations

from typing import Any, Final

from construct import (
    Bytes,
    Const,
    If,
    Int8ub,
    Int16ul,
    Int24ul,
    Int32ul,
    Int64sl,
    RepeatUntil,
    Struct,
    Switch,
    this,
)

from barnabas.specs.containers.roles import Checksum, Length

CHECKSUM: Final = 0x04
SINGLE_SEGMENT: Final = 0x20
_ONE_BYTE_MANY_TIMES: Final = 1
"""The type of a block with one repeated byte; RFC 8878 calls it RLE."""


def _content_size(context: Any) -> int:
    """Return the number of bytes of the content size, from the upper two bits of the descriptor."""
    descriptor: int = context.descriptor
    return 1 << (descriptor >> 6) if descriptor >> 6 else descriptor >> 5 & 1


def _bytes(block: Any) -> int:
    return 1 if block.header >> 1 & 3 == _ONE_BYTE_MANY_TIMES else int(block.header >> 3)


def _last(block: Any, blocks: Any, context: Any) -> bool:
    return bool(block.header & 1)


# fmt: off
BLOCK: Final = Struct(
    "header" / Length(Int24ul, "data", shift=3),  # bits: last, two of the type, 21 of the size
    "data"   / Bytes(_bytes),
)
ZSTD: Final = Struct(
    "magic"         / Const(bytes.fromhex("28b52ffd")),
    "descriptor"    / Int8ub,
    "window"        / If(lambda frame: not frame.descriptor & SINGLE_SEGMENT, Int8ub),
    "dictionary_id" / Switch(this.descriptor & 3, {1: Int8ub, 2: Int16ul, 3: Int32ul}),
    # of two bytes: 256 less
    "content_size"  / Length(Switch(_content_size, {1: Int8ub, 2: Int16ul, 4: Int32ul, 8: Int64sl})),
    "blocks"        / RepeatUntil(_last, BLOCK),
    "checksum"      / If(this.descriptor & CHECKSUM, Checksum(Int32ul, "xxh64")),
)
# fmt: on
