"""The forms of compressed bytes: as the Java client writes them, and as other clients may.

The bytes are valid; they differ in the optional fields of the container.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import cramjam

from barnabas.specs.containers import gzip, lz4, zstd
from barnabas.specs.containers.gzip import GZIP
from barnabas.specs.containers.lz4 import LZ4, LZ4_MAGIC_0
from barnabas.specs.containers.zstd import ZSTD
from barnabas.specs.records import CODECS, compress, raw_snappy
from barnabas.specs.records.lz4 import MAGIC, header_checksum
from barnabas.specs.records.xxhash import xxh64


class Container(NamedTuple):
    """A form of compressed bytes: its name, its codec, and the function that packs records for a magic."""

    name: str
    codec: str
    pack: Callable[[bytes, int], bytes]


def _as_java(codec: str) -> Container:
    return Container(codec, codec, lambda data, magic: compress(codec, data, magic=magic))


def _gzip_named(data: bytes, magic: int) -> bytes:
    """Return a member with all optional fields of a header."""
    (member,) = GZIP.parse(compress("gzip", data)).members
    member.flags = gzip.EXTRA | gzip.NAME | gzip.COMMENT | gzip.HEADER_CRC
    member.extra = b"BN\x04\x00four"  # one subfield: its id, its length, its data
    member.extra_size = len(member.extra)
    member.name, member.comment = b"records", b"of a bench"
    member.header_crc = 0
    header = gzip.MEMBER.build(member)[: -len(member.deflated) - 10]
    member.header_crc = zlib.crc32(header) & 0xFFFF
    return bytes(GZIP.build({"members": [member]}))


def _gzip_members(data: bytes, magic: int) -> bytes:
    """Return two members."""
    half = len(data) // 2
    return compress("gzip", data[:half]) + compress("gzip", data[half:])


def _lz4_sized(data: bytes, magic: int) -> bytes:
    """Return a frame with the content's size and all checksums.

    There is no dictionary id, which Kafka refuses.
    """
    packing = cramjam.lz4.Compressor(content_checksum=True, block_linked=False)
    packing.compress(data)
    frame = LZ4.parse(bytes(packing.finish()))
    frame.flags |= lz4.CONTENT_SIZE
    frame.content_size = len(data)
    declared = LZ4 if magic else LZ4_MAGIC_0
    header = declared.build(frame)[:14]
    frame.header_checksum = header_checksum(header if magic == 0 else header[len(MAGIC) :])
    return bytes(declared.build(frame))


def _zstd_streamed(data: bytes, magic: int) -> bytes:
    """Return a frame without a size, as of a stream, with a window of 1 MiB instead."""
    frame = ZSTD.parse(compress("zstd", data))
    if not frame.descriptor & zstd.SINGLE_SEGMENT:
        return compress("zstd", data)
    frame.descriptor, frame.window, frame.content_size = 0, 10 << 3, None
    return bytes(ZSTD.build(frame))


def _zstd_checked(data: bytes, magic: int) -> bytes:
    """Return a frame with the checksum of its content, as Go's clients write it."""
    frame = ZSTD.parse(compress("zstd", data))
    frame.descriptor |= zstd.CHECKSUM
    frame.checksum = xxh64(data) & 0xFFFFFFFF
    return bytes(ZSTD.build(frame))


CONTAINERS: Final[tuple[Container, ...]] = (
    *map(_as_java, CODECS[1:]),
    Container("snappy-raw", "snappy", lambda data, magic: raw_snappy(data)),
    Container("gzip-named", "gzip", _gzip_named),
    Container("gzip-members", "gzip", _gzip_members),
    Container("lz4-sized", "lz4", _lz4_sized),
    Container("zstd-streamed", "zstd", _zstd_streamed),
    Container("zstd-checked", "zstd", _zstd_checked),
)

_BY_NAME: Final = {container.name: container for container in CONTAINERS}


def packing(name: str, magic: int) -> dict[str, Any]:
    """Return the arguments of barnabas.specs.records.build for a container.

    They are empty for "none". Raises KeyError for an unknown container.

    >>> packing("snappy-raw", 2)["compression"]
    'snappy'
    """
    if name == "none":
        return {}
    _, codec, pack = _BY_NAME[name]
    return {"compression": codec, "compressor": lambda data: pack(data, magic)}


def names(*, zstd: bool) -> tuple[str, ...]:
    """Return the names of all containers; zstd is new in some versions (KIP-110)."""
    return tuple(container.name for container in CONTAINERS if zstd or container.codec != "zstd")
