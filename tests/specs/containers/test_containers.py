"""The declarations read what real codecs write, say where it ends, and build it again byte for byte."""

from __future__ import annotations

import gzip
import io
import random
from collections.abc import Callable
from typing import Any

import construct
import cramjam
import lz4.frame
import pytest
import snappy
import xxhash
import zstandard
from hypothesis import example, given
from hypothesis import strategies as st

from barnabas.specs.containers.gzip import GZIP, MEMBER
from barnabas.specs.containers.lz4 import LZ4, LZ4_MAGIC_0
from barnabas.specs.containers.snappy import SNAPPY, literal_tag
from barnabas.specs.containers.xerial import XERIAL
from barnabas.specs.containers.zstd import ZSTD
from barnabas.specs.records import compress


def _zstd(**settings: Any) -> Callable[[bytes], bytes]:
    return lambda data: zstandard.ZstdCompressor(**settings).compress(data)


def _streamed(data: bytes) -> bytes:
    packing = zstandard.ZstdCompressor(write_checksum=True).compressobj()
    return packing.compress(data) + packing.flush()


def _lz4(**settings: Any) -> Callable[[bytes], bytes]:
    return lambda data: lz4.frame.compress(data, **settings)


def _named(data: bytes) -> bytes:
    out = io.BytesIO()
    with gzip.GzipFile("records", "wb", fileobj=out) as file:
        file.write(data)
    return out.getvalue()


def _java(codec: str, magic: int = 2) -> Callable[[bytes], bytes]:
    return lambda data: compress(codec, data, magic=magic)


ALL_OF_LZ4 = {"content_checksum": True, "block_checksum": True, "store_size": True}

WRITERS: dict[str, tuple[construct.Construct, Callable[[bytes], bytes]]] = {
    "gzip": (GZIP, gzip.compress),
    "gzip-java": (GZIP, _java("gzip")),
    "gzip-named": (GZIP, _named),
    "gzip-members": (GZIP, lambda data: gzip.compress(data) + gzip.compress(data[::-1])),
    "gzip-stored": (GZIP, lambda data: gzip.compress(data, 0)),
    "xerial-java": (XERIAL, _java("snappy")),
    "snappy": (SNAPPY, snappy.compress),
    "snappy-cramjam": (SNAPPY, lambda data: bytes(cramjam.snappy.compress_raw(data))),
    "lz4": (LZ4, _lz4()),
    "lz4-all": (LZ4, _lz4(**ALL_OF_LZ4)),
    "lz4-java": (LZ4, _java("lz4")),
    "lz4-java-magic-0": (LZ4_MAGIC_0, _java("lz4", 0)),
    "lz4-cramjam": (LZ4, lambda data: bytes(cramjam.lz4.compress(data))),
    "zstd": (ZSTD, _zstd()),
    "zstd-checksum": (ZSTD, _zstd(write_checksum=True)),
    "zstd-no-size": (ZSTD, _zstd(write_content_size=False)),
    "zstd-streamed": (ZSTD, _streamed),
    "zstd-cramjam": (ZSTD, lambda data: bytes(cramjam.zstd.compress(data))),
}

EACH = pytest.mark.parametrize("writer", WRITERS)
noise = st.binary(max_size=400) | st.builds(
    lambda piece, times: piece * times, st.binary(min_size=1, max_size=40), st.integers(1, 5000)
)


@EACH
@given(data=noise)
@example(data=random.Random(1).randbytes(70_000))
def test_what_a_codec_writes_is_read_and_built_again(writer: str, data: bytes) -> None:
    declared, write = WRITERS[writer]
    packed = write(data)
    assert declared.build(declared.parse(packed)) == packed


@pytest.mark.parametrize("length", [1, 60, 61, 256, 257, 65536, 65537, 2**24 + 1, 2**32])
def test_a_literals_tag_reads_as_its_length(length: int) -> None:
    tag = literal_tag(length)
    more = tag[0] >> 2
    read = more if more < 60 else int.from_bytes(tag[1:], "little")
    assert (tag[0] & 3, read + 1, len(tag)) == (0, length, 1 if more < 60 else more - 58)


def test_lz4_has_sizes_and_checksums() -> None:
    data = random.Random(2).randbytes(70_000)
    packed = lz4.frame.compress(data, **ALL_OF_LZ4)
    found = LZ4.parse(packed)
    assert found.content_size == len(data)
    assert found.header_checksum == xxhash.xxh32_intdigest(packed[4:14]) >> 8 & 0xFF
    assert found.content_checksum == xxhash.xxh32_intdigest(data)
    assert found.blocks[-1].size == 0
    for block in found.blocks[:-1]:
        assert block.checksum == xxhash.xxh32_intdigest(block.data)


def test_zstd_has_its_blocks_and_the_checksum() -> None:
    data = random.Random(3).randbytes(300_000)
    found = ZSTD.parse(_zstd(write_checksum=True)(data))
    assert found.content_size == len(data)
    assert found.checksum == xxhash.xxh64_intdigest(data) & 0xFFFFFFFF
    assert [block.header & 1 for block in found.blocks] == [0] * (len(found.blocks) - 1) + [1]
    assert sum(block.header >> 3 for block in found.blocks) == len(data)  # it does not shrink
    streamed = ZSTD.parse(_streamed(b"a"))
    assert streamed.content_size is None
    assert streamed.window is not None


def test_a_stream_without_an_end_is_refused() -> None:
    packed = gzip.compress(b"records" * 100)
    with pytest.raises(construct.ConstructError):
        MEMBER.parse(packed[:20])
