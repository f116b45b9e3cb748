"""LZ4 frames (LZ4 frame format 1.6.1); Kafka reads a single one (Lz4BlockInputStream)."""

from __future__ import annotations

from typing import Any, Final

from construct import Bytes, Const, If, Int8ub, Int32ul, Int64sl, RepeatUntil, Struct, this

from barnabas.specs.containers.roles import Checksum, Length
from barnabas.specs.records.lz4 import MAGIC

DICTIONARY_ID: Final = 0x01
CONTENT_CHECKSUM: Final = 0x04
CONTENT_SIZE: Final = 0x08
BLOCK_CHECKSUMS: Final = 0x10
UNCOMPRESSED: Final = 1 << 31
"""Flag in a block's size: the block is not compressed."""


def _last(block: Any, blocks: Any, context: Any) -> bool:
    return bool(block.size == 0)


def _has_checksum(block: Any) -> bool:
    return bool(block.size and block._.flags & BLOCK_CHECKSUMS)


# fmt: off
BLOCK: Final = Struct(
    "size"     / Length(Int32ul, "data"),
    "data"     / Bytes(this.size & UNCOMPRESSED - 1),
    "checksum" / If(_has_checksum, Checksum(Int32ul, "xxh32", "data")),
)


def frame(checked: str) -> Struct[Any]:
    """Return a frame whose header checksum covers all bytes from the field `checked` on."""
    return Struct(
        "magic"            / Const(MAGIC),
        "flags"            / Int8ub,
        "block_descriptor" / Int8ub,
        "content_size"     / If(this.flags & CONTENT_SIZE, Length(Int64sl)),
        "dictionary_id"    / If(this.flags & DICTIONARY_ID, Int32ul),
        "header_checksum"  / Checksum(Int8ub, "xxh32", checked),
        "blocks"           / RepeatUntil(_last, BLOCK),  # the last one is the end mark
        "content_checksum" / If(this.flags & CONTENT_CHECKSUM, Checksum(Int32ul, "xxh32")),
    )


LZ4: Final = frame("flags")
LZ4_MAGIC_0: Final = frame("magic")
"""The frame in messages of magic 0, whose checksum covers the frame's magic, too (KIP-57)."""
# fmt: on
