"""The codecs of record sets, each with a bound on its output (CompressionType; KIP-110 for zstd).

A size that the compressed bytes declare is never trusted: memory grows with what really comes out.
"""

from __future__ import annotations

import zlib
from typing import Final

import cramjam

from barnabas.specs.malformed import Malformed, TooLarge
from barnabas.specs.records import lz4

MAX_OUTPUT: Final = 128 << 20
"""Bytes that one batch may decompress to, unless a caller says otherwise."""

CODECS: Final = ("none", "gzip", "snappy", "lz4", "zstd")
"""Names by id, the low three bits of a batch's attributes."""

_GZIP_MAGIC: Final = b"\x1f\x8b"
_GZIP_CHUNK: Final = 16 << 10
_XERIAL_MAGIC: Final = b"\x82SNAPPY\x00"
_XERIAL_HEADER: Final = 16
_SNAPPY_RATIO: Final = 22  # its best is a copy of 64 bytes in an element of 3


def codec_name(attributes: int) -> str:
    """The codec of a batch or message; ids without a codec give e.g. `unknown-6`.

    >>> codec_name(0x12), codec_name(6)
    ('snappy', 'unknown-6')
    """
    codec = attributes & 7
    return CODECS[codec] if codec < len(CODECS) else f"unknown-{codec}"


def decompress(
    codec: str, data: bytes | memoryview, *, limit: int = MAX_OUTPUT, magic: int = 2
) -> bytes:
    """What a codec of `CODECS` makes of data; `magic` is the batch's, since magic 0 has an odd lz4.

    Raises Malformed, with the codec's name as path and the offset in data, for bytes that the codec
    cannot read, for more output than `limit` bytes and for codecs there are not.

    >>> decompress("gzip", zlib.compress(b"records", wbits=31))
    b'records'
    """
    match codec:
        case "none":
            return bytes(data)
        case "gzip":
            return _gzip(data, limit)
        case "snappy":
            return _snappy(bytes(data), limit)
        case "lz4":
            return lz4.decompress(data, limit, check_header=magic > 0)
        case "zstd":
            return _zstd(data, limit)
    raise Malformed(codec, 0, "a codec that Kafka does not have")


def _gzip(data: bytes | memoryview, limit: int) -> bytes:
    """One gzip member or more; like Java's, it leaves alone what follows and is no member."""
    parts = []
    total = position = 0
    while True:
        member = zlib.decompressobj(wbits=31)
        while not member.eof:
            # In chunks: zlib copies what is behind a member, and tiny members make that square.
            chunk = data[position : position + _GZIP_CHUNK]
            if not chunk:
                raise Malformed("gzip", position, "the stream ends too early")
            try:
                part = member.decompress(chunk, limit - total + 1)
            except zlib.error as e:
                raise Malformed("gzip", position, str(e)) from None
            total += len(part)
            if total > limit:
                raise TooLarge("gzip", position, f"more than {limit} bytes of output")
            parts.append(part)
            position += len(chunk) - len(member.unused_data)
        if data[position : position + 2] != _GZIP_MAGIC:
            return b"".join(parts)


def _snappy(data: bytes, limit: int) -> bytes:
    """Raw snappy, or xerial's framing: a header, then chunks of an int32 length and raw snappy."""
    if not data.startswith(_XERIAL_MAGIC):
        return _raw_snappy(data, limit, 0)
    parts = []
    total = position = 0
    while position + 4 <= len(data):
        if data.startswith(_XERIAL_MAGIC, position):  # again at the start of an appended stream
            position += _XERIAL_HEADER
            continue
        size = int.from_bytes(data[position : position + 4], "big", signed=True)
        end = position + 4 + size
        if not position + 4 <= end <= len(data):
            remain = len(data) - position - 4
            reason = f"a chunk of {size} bytes announced, {remain} remain"
            raise Malformed("snappy", position, reason)
        part = _raw_snappy(data[position + 4 : end], limit - total, position + 4)
        total += len(part)
        parts.append(part)
        position = end
    return b"".join(parts)


def _raw_snappy(data: bytes, limit: int, origin: int) -> bytes:
    try:
        size = cramjam.snappy.decompress_raw_len(data)
        if size > limit:
            raise TooLarge("snappy", origin, f"more output than the limit leaves: {size} bytes")
        if size > _SNAPPY_RATIO * len(data):
            raise Malformed("snappy", origin, f"{size} bytes cannot come out of {len(data)}")
        return bytes(cramjam.snappy.decompress_raw(data))
    except cramjam.DecompressionError as e:
        raise Malformed("snappy", origin, str(e)) from None


def _zstd(data: bytes | memoryview, limit: int) -> bytes:
    """Into a buffer that grows as long as it is too small, since cramjam does not stream."""
    size = min(limit, max(4 * len(data), 64 << 10))
    while True:
        buffer = bytearray(size)
        try:
            written = cramjam.zstd.decompress_into(data, buffer)
            return bytes(memoryview(buffer)[:written])
        except cramjam.DecompressionError as e:
            if "write whole buffer" not in str(e):
                raise Malformed("zstd", 0, str(e)) from None
        if size == limit:
            raise TooLarge("zstd", 0, f"more than {limit} bytes of output")
        size = min(limit, 4 * size)
        del buffer
