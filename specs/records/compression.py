"""The codecs of record sets: compress as the Java client does, decompress with a bound on the output.

Decompression never trusts a size that the compressed bytes declare: memory grows with the actual output
(CompressionType; KIP-110 for zstd). Written are one member of gzip; snappy in xerial's framing, chunks of
32 KiB; an lz4 frame of independent blocks of 64 KiB without checksums (KafkaLZ4BlockOutputStream); one zstd
frame.
"""

from __future__ import annotations

import struct
import zlib
from typing import Final

import cramjam

from barnabas.specs.malformed import Malformed, TooLarge
from barnabas.specs.records import lz4
from barnabas.specs.records.lz4 import END_MARK, MAGIC, header_checksum

MAX_OUTPUT: Final = 128 << 20
"""The default for the most bytes that one batch may decompress to."""

CODECS: Final = ("none", "gzip", "snappy", "lz4", "zstd")
"""Names by id, the low three bits of a batch's attributes."""

_GZIP_MAGIC: Final = b"\x1f\x8b"
_GZIP_CHUNK: Final = 16 << 10
_XERIAL_MAGIC: Final = b"\x82SNAPPY\x00"
_XERIAL_HEADER_SIZE: Final = 16
_SNAPPY_RATIO: Final = 22  # its best is a copy of 64 bytes in an element of 3

_XERIAL_HEADER: Final = _XERIAL_MAGIC + struct.pack(">ii", 1, 1)
_XERIAL_CHUNK: Final = 32 << 10

_LZ4_DESCRIPTOR: Final = b"\x60\x40"  # version 1, independent blocks; of 64 KiB at most
# up to 0.10 the checksum covered the frame's magic too, and readers of magic 0 expect that
_LZ4_HEADERS: Final = tuple(
    MAGIC + _LZ4_DESCRIPTOR + bytes((header_checksum(checked),))
    for checked in (MAGIC + _LZ4_DESCRIPTOR, _LZ4_DESCRIPTOR)
)
"""The header for magic 0, and for all others."""
_LZ4_BLOCK: Final = 64 << 10
_LZ4_RAW: Final = 1 << 31
"""Flag in a block's size: the block is not compressed, since compression would enlarge it."""


def codec_name(attributes: int) -> str:
    """Return the codec of a batch or message; an unknown id gives e.g. `unknown-6`.

    >>> codec_name(0x12), codec_name(6)
    ('snappy', 'unknown-6')
    """
    codec = attributes & 7
    return CODECS[codec] if codec < len(CODECS) else f"unknown-{codec}"


def decompress(
    codec: str, data: bytes | memoryview, *, limit: int = MAX_OUTPUT, magic: int = 2
) -> bytes:
    """Decompress data with a codec of `CODECS`.

    `magic` is the batch's: magic 0 has a different lz4 header.

    Raises:
        Malformed: The codec can't read the bytes, the output exceeds `limit` bytes, or Kafka has no such
            codec. The path is the
            codec's name; the offset counts in data.

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
    """Decompress gzip members; like Java's, this ignores trailing bytes that are no member."""
    parts = []
    total = position = 0
    while True:
        member = zlib.decompressobj(wbits=31)
        while not member.eof:
            # In chunks: zlib copies the bytes after each member, which is quadratic for tiny members.
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
    """Decompress raw snappy, or xerial's framing: a header, then chunks of an int32 length and raw snappy."""
    if not data.startswith(_XERIAL_MAGIC):
        return _raw_snappy(data, limit, 0)
    parts = []
    total = position = 0
    while position + 4 <= len(data):
        if data.startswith(_XERIAL_MAGIC, position):  # again at the start of an appended stream
            position += _XERIAL_HEADER_SIZE
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
    """Decompress zstd into a buffer that grows while it is too small, since cramjam has no stream."""
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


def compress(codec: str, data: bytes, *, magic: int = 2) -> bytes:
    """Compress data with a codec of `CODECS`.

    `magic` is the batch's: magic 0 has a different lz4 header. Raises LookupError for a codec that Kafka
    lacks.

    >>> from barnabas.specs.records import decompress
    >>> decompress("lz4", compress("lz4", b"abc" * 50_000)) == b"abc" * 50_000
    True
    """
    match codec:
        case "none":
            return data
        case "gzip":
            packed = zlib.compress(data, wbits=31)
            return packed[:9] + b"\xff" + packed[10:]  # Java names no operating system
        case "snappy":
            return _XERIAL_HEADER + b"".join(
                struct.pack(">i", len(chunk)) + chunk
                for chunk in (raw_snappy(part) for part in _parts(data, _XERIAL_CHUNK))
            )
        case "lz4":
            return _lz4(data, magic)
        case "zstd":
            return bytes(cramjam.zstd.compress(data, level=3))
    raise LookupError(f"Kafka has no codec {codec!r}")


def raw_snappy(data: bytes) -> bytes:
    """Return raw snappy without a framing; librdkafka and others write it, and Java reads it."""
    return bytes(cramjam.snappy.compress_raw(data))


def _lz4(data: bytes, magic: int) -> bytes:
    out = [_LZ4_HEADERS[magic > 0]]
    for part in _parts(data, _LZ4_BLOCK):
        block = bytes(cramjam.lz4.compress_block(part, store_size=False))
        if len(block) < len(part):
            out += (struct.pack("<I", len(block)), block)
        else:
            out += (struct.pack("<I", len(part) | _LZ4_RAW), part)
    return b"".join((*out, END_MARK))


def _parts(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]
