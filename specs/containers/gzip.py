"""gzip: consecutive members (RFC 1952); most streams have one."""

from __future__ import annotations

import zlib
from typing import Any, Final

from construct import (
    Bytes,
    Const,
    Construct,
    GreedyBytes,
    GreedyRange,
    If,
    Int8ub,
    Int16ul,
    Int32ul,
    NullTerminated,
    StreamError,
    Struct,
    this,
)

from barnabas.specs.containers.roles import Checksum, Length

HEADER_CRC: Final = 0x02
EXTRA: Final = 0x04
NAME: Final = 0x08
COMMENT: Final = 0x10

_STEP: Final = 16 << 10
"""Bytes of output per step while searching the end of a stream."""


class _Deflated(Construct):  # type: ignore[misc]
    """An opaque deflate stream (RFC 1951); only decompression finds its end."""

    def _parse(self, stream: Any, context: Any, path: str) -> bytes:
        start = stream.tell()
        data: bytes = stream.read()
        inflating, remaining = zlib.decompressobj(wbits=-15), data
        while not inflating.eof:
            try:
                out = inflating.decompress(remaining, _STEP)
            except zlib.error as problem:
                raise StreamError(str(problem), path=path) from None
            remaining = inflating.unconsumed_tail
            if not (out or remaining or inflating.eof):
                raise StreamError("a deflate stream without an end", path=path)
        size = len(data) - len(inflating.unused_data)
        stream.seek(start + size)
        return data[:size]

    def _build(self, obj: bytes, stream: Any, context: Any, path: str) -> bytes:
        stream.write(obj)
        return obj


# fmt: off
MEMBER: Final = Struct(
    "magic"       / Const(b"\x1f\x8b"),
    "method"      / Int8ub,
    "flags"       / Int8ub,
    "mtime"       / Int32ul,
    "extra_flags" / Int8ub,
    "os"          / Int8ub,
    "extra_size"  / If(this.flags & EXTRA, Length(Int16ul, "extra")),
    "extra"       / If(this.flags & EXTRA, Bytes(this.extra_size)),
    "name"        / If(this.flags & NAME, NullTerminated(GreedyBytes)),
    "comment"     / If(this.flags & COMMENT, NullTerminated(GreedyBytes)),
    "header_crc"  / If(this.flags & HEADER_CRC, Checksum(Int16ul, "crc16", "magic")),
    "deflated"    / _Deflated(),
    "crc"         / Checksum(Int32ul, "crc32"),
    "size"        / Length(Int32ul),
)
GZIP: Final = Struct("members" / GreedyRange(MEMBER))
# fmt: on
