"""The codecs of record sets, writing: the framings that the Java client uses.

gzip as one member; snappy in xerial's framing, chunks of 32 KiB; lz4 as a frame of independent blocks
of 64 KiB without checksums (KafkaLZ4BlockOutputStream); zstd as one frame.
"""

from __future__ import annotations

import struct
import zlib
from typing import Final

import cramjam

from barnabas.specs.records.lz4 import END_MARK, MAGIC, header_checksum

_XERIAL_HEADER: Final = b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1)
_XERIAL_CHUNK: Final = 32 << 10

_LZ4_DESCRIPTOR: Final = b"\x60\x40"  # version 1, independent blocks; of 64 KiB at most
# up to 0.10 the checksum covered the frame's magic too, and readers of magic 0 expect that
_LZ4_HEADERS: Final = tuple(
    MAGIC + _LZ4_DESCRIPTOR + bytes((header_checksum(checked),))
    for checked in (MAGIC + _LZ4_DESCRIPTOR, _LZ4_DESCRIPTOR)
)
"""Of magic 0, and of all others."""
_LZ4_BLOCK: Final = 64 << 10
_LZ4_RAW: Final = 1 << 31
"""In a block's size: its bytes are not compressed, since that made them more."""


def compress(codec: str, data: bytes, *, magic: int = 2) -> bytes:
    """What a codec of `CODECS` makes of data; `magic` is the batch's, since magic 0 has an odd lz4.

    Raises LookupError for a codec that Kafka does not have.

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
    """Snappy without a framing, which librdkafka and others write and Java reads too."""
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
