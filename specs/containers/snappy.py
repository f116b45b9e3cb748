"""Raw snappy: the size of the output as a varint, then literals and copies (format_description.txt)."""

from __future__ import annotations

from typing import Any, Final

from construct import (
    Bytes,
    Construct,
    GreedyRange,
    If,
    Int8ub,
    Int16ul,
    Int32ul,
    Peek,
    Struct,
    Switch,
    VarInt,
    stream_read,
    stream_write,
    this,
)

from barnabas.specs.containers.roles import Length

_LITERAL, _COPY_1, _COPY_2, _COPY_4 = range(4)
"""The kinds of elements, the lower two bits of a tag; copies by the bytes of their offset."""
_SHORT: Final = 60
"""Lengths up to this one are in the tag; longer ones take one to four bytes after it, little-endian."""


def literal_tag(length: int) -> bytes:
    """Return the tag of a literal with its length, in 32 bits.

    >>> literal_tag(3).hex(), literal_tag(300).hex()
    ('08', 'f42b01')
    """
    less = (length - 1) & 0xFFFFFFFF
    if less < _SHORT:
        return bytes((less << 2,))
    size = max((less.bit_length() + 7) // 8, 1)
    return bytes((_SHORT - 1 + size << 2,)) + less.to_bytes(size, "little")


class _LiteralLength(Construct):  # type: ignore[misc]
    """The length of a literal, from its tag."""

    def _parse(self, stream: Any, context: Any, path: str) -> int:
        less = stream_read(stream, 1, path)[0] >> 2
        if less >= _SHORT:
            less = int.from_bytes(stream_read(stream, less - _SHORT + 1, path), "little")
        return int(less) + 1

    def _build(self, obj: int, stream: Any, context: Any, path: str) -> int:
        tag = literal_tag(obj)
        stream_write(stream, tag, len(tag), path)
        return obj


# fmt: off
ELEMENT: Final = Struct(
    "kind"    / Peek(Int8ub),
    "length"  / If(this.kind & 3 == _LITERAL, Length(_LiteralLength(), "literal", coding="literal")),
    "literal" / If(this.kind & 3 == _LITERAL, Bytes(this.length)),
    "copy"    / If(this.kind & 3 != _LITERAL, Int8ub),
    "offset"  / Switch(this.kind & 3, {_COPY_1: Int8ub, _COPY_2: Int16ul, _COPY_4: Int32ul}),
)
SNAPPY: Final = Struct(
    "size"     / Length(VarInt),
    "elements" / GreedyRange(ELEMENT),
)
# fmt: on
