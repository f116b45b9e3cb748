"""LZ4 frames as Kafka reads them, a block at a time (LZ4 frame format 1.6; Lz4BlockInputStream).

Kafka requires independent blocks and no dictionary, and ignores the content checksum. In magic 0 the header
checksum wrongly covered the frame's magic, too, so Kafka accepts any checksum there (KIP-31).
"""

from __future__ import annotations

import struct

import cramjam

from barnabas.specs.malformed import Malformed, TooLarge

MAGIC = b"\x04\x22\x4d\x18"
END_MARK = bytes(4)

_VERSION, _INDEPENDENT, _BLOCK_CHECKSUM, _CONTENT_SIZE, _RESERVED = 0xC0, 0x20, 0x10, 0x08, 0x03


def decompress(data: bytes | memoryview, limit: int, *, check_header: bool = True) -> bytes:
    """Return the content of a frame, at most `limit` bytes; bytes after the frame are ignored.

    Raises:
        Malformed: The frame is invalid. The path is `lz4`; the offset counts in data.
    """
    data = bytes(data)
    flags, block_size, position = _descriptor(data, check_header)
    # Each block goes to the library as a frame of its own: that bounds what one call may return,
    # and has block checksums verified. The content's size and checksum are not in that frame.
    descriptor = bytes((0x40 | _INDEPENDENT | flags & _BLOCK_CHECKSUM, block_size))
    head = MAGIC + descriptor + bytes((header_checksum(descriptor),))
    extra = 8 if flags & _BLOCK_CHECKSUM else 4
    blocks: list[bytes] = []
    total = 0
    while True:
        if position + 4 > len(data):
            raise Malformed("lz4", position, "the frame ends without an end mark")
        size = int.from_bytes(data[position : position + 4], "little") & 0x7FFFFFFF
        if size == 0:
            return b"".join(blocks)
        end = position + size + extra
        if end > len(data):
            remain = len(data) - position - extra
            raise Malformed("lz4", position, f"a block of {size} bytes announced, {remain} remain")
        try:
            block = bytes(cramjam.lz4.decompress(head + data[position:end] + END_MARK))
        except cramjam.DecompressionError as e:
            raise Malformed("lz4", position, str(e)) from None
        total += len(block)
        if total > limit:
            raise TooLarge("lz4", position, f"more than {limit} bytes of output")
        blocks.append(block)
        position = end


def _descriptor(data: bytes, check_header: bool) -> tuple[int, int, int]:
    if not data.startswith(MAGIC):
        raise Malformed("lz4", 0, f"a frame begins with {MAGIC.hex()}")
    size = 15 if len(data) > 4 and data[4] & _CONTENT_SIZE else 7
    if len(data) < size:
        raise Malformed("lz4", len(data), f"a frame header of {size} bytes")
    flags, block_size = data[4], data[5]
    if flags & _VERSION != 0x40 or not flags & _INDEPENDENT or flags & _RESERVED:
        raise Malformed("lz4", 4, f"independent blocks of version 1, no dictionary: {flags:#04x}")
    if block_size & 0x8F or block_size < 0x40:
        raise Malformed("lz4", 5, f"a block size of 4 to 7: {block_size:#04x}")
    if check_header and header_checksum(data[4 : size - 1]) != data[size - 1]:
        raise Malformed("lz4", size - 1, "the frame header's checksum is wrong")
    return flags, block_size, size


def header_checksum(descriptor: bytes) -> int:
    """Return the frame header's checksum: a byte of xxHash32, in its form for fewer than 16 bytes.

    >>> hex(header_checksum(bytes.fromhex("6040")))
    '0x82'
    """
    whole = len(descriptor) & ~3
    h = 374761393 + len(descriptor)
    for (word,) in struct.iter_unpack("<I", descriptor[:whole]):
        h = _rotate(h + word * 3266489917, 17) * 668265263
    for byte in descriptor[whole:]:
        h = _rotate(h + byte * 374761393, 11) * 2654435761
    h &= 0xFFFFFFFF
    h = (h ^ h >> 15) * 2246822519 & 0xFFFFFFFF
    h = (h ^ h >> 13) * 3266489917 & 0xFFFFFFFF
    return (h ^ h >> 16) >> 8 & 0xFF


def _rotate(value: int, by: int) -> int:
    value &= 0xFFFFFFFF
    return value << by | value >> 32 - by
