"""What is compressed is as Kafka's Java client has it: the framings, and the sizes of blocks."""

from __future__ import annotations

import random
import struct

import pytest

from barnabas.specs import records
from barnabas.specs.records import Batch, compress, decompress, rebuild
from tests.golden.frames import record_sets

SETS = record_sets()

OTHER_SETTINGS = ("blocksize", "correct-hc", "raw", "1k-blocks", "two-members", "zstd")
"""Parts of the names of sets that were not written with Kafka's own settings, or are zstd: its
frame's header depends on the library's version."""

START = {"gzip": 10, "snappy": 16, "lz4": 7}
"""Bytes in front of the first block."""


def start(batch: Batch) -> bytes:
    """The beginning of a batch's compressed bytes; in magic 0 and 1 there is no wrapper's key."""
    return bytes(batch.data)[{0: 26, 1: 34, 2: 61}[batch.magic] :][: START[batch.compression]]


@pytest.mark.parametrize("codec", START)
@pytest.mark.parametrize("magic", [0, 1, 2])
def test_streams_begin_as_kafka_writes_them(magic: int, codec: str) -> None:
    expected, written = set(), set()
    for case, data in SETS.items():
        if any(part in case for part in (*OTHER_SETTINGS, "with-key")):
            continue
        for batch in records.read(data):
            if (batch.magic, batch.compression) == (magic, codec):
                (again,) = records.read(rebuild(batch))
                expected.add(start(batch))
                written.add(start(again))
    assert expected == written
    assert len(expected) == 1


def test_the_header_checksum_of_lz4_is_another_in_magic_0() -> None:
    assert compress("lz4", b"", magic=0)[:7].hex() == "04224d1860401a"
    assert compress("lz4", b"", magic=1)[:7].hex() == "04224d18604082"


@pytest.mark.parametrize("codec", records.CODECS)
@pytest.mark.parametrize("magic", [0, 1, 2])
@pytest.mark.parametrize("size", [0, 1, (32 << 10) - 1, 32 << 10, (64 << 10) + 1, 300_000])
def test_what_is_compressed_is_decompressed(size: int, magic: int, codec: str) -> None:
    data = (random.Random(1).randbytes(1000) * (size // 500 + 1))[:size]
    assert decompress(codec, compress(codec, data, magic=magic), magic=magic) == data


def test_snappy_is_cut_into_chunks_of_32_kib() -> None:
    packed = compress("snappy", bytes(70_000))
    assert packed[:16] == b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1)
    sizes, at = [], 16
    while at < len(packed):
        (size,) = struct.unpack_from(">i", packed, at)
        sizes.append(len(decompress("snappy", packed[at + 4 : at + 4 + size])))
        at += 4 + size
    assert sizes == [32768, 32768, 4464]


def test_lz4_blocks_that_do_not_shrink_stay_as_they_are() -> None:
    noise = random.Random(1).randbytes(3 << 16)
    frame = records.compress("lz4", noise)
    assert frame[7:11] == struct.pack("<I", (1 << 16) | (1 << 31))
    assert len(frame) == len(noise) + 3 * 4 + 7 + 4
    assert records.decompress("lz4", frame) == noise


def test_an_unknown_codec() -> None:
    with pytest.raises(LookupError, match="no codec 'brotli'"):
        compress("brotli", b"")
