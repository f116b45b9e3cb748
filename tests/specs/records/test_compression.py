"""Codecs: right output, and never much more memory than the bound on it."""

from __future__ import annotations

import random
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import cramjam
import pytest
import xxhash
from hypothesis import example, given
from hypothesis import strategies as st

from barnabas.specs import records
from barnabas.specs.malformed import Malformed
from barnabas.specs.records import Batch, compress, lz4, rebuild
from barnabas.specs.records.compression import decompress
from barnabas.specs.records.xxhash import xxh32, xxh64
from tests.golden.frames import record_sets

MIB = 1 << 20


def _gzip(data: bytes) -> bytes:
    return zlib.compress(data, wbits=31)


def _raw_snappy(data: bytes) -> bytes:
    return bytes(cramjam.snappy.compress_raw(data))


def _xerial(data: bytes) -> bytes:
    chunks = [_raw_snappy(data[at : at + 32768]) for at in range(0, len(data), 32768)]
    framed = b"".join(struct.pack(">i", len(chunk)) + chunk for chunk in chunks)
    return b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1) + framed


def _lz4(data: bytes) -> bytes:
    descriptor = b"\x60\x70"
    frame = lz4.MAGIC + descriptor + bytes((lz4.header_checksum(descriptor),))
    for at in range(0, len(data), 4 * MIB):
        block = bytes(cramjam.lz4.compress_block(data[at : at + 4 * MIB], store_size=False))
        frame += struct.pack("<I", len(block)) + block
    return frame + lz4.END_MARK


def _zstd(data: bytes) -> bytes:
    return bytes(cramjam.zstd.compress(data))


COMPRESSORS = (
    ("gzip", _gzip),
    ("snappy", _raw_snappy),
    ("snappy", _xerial),
    ("lz4", _lz4),
    ("zstd", _zstd),
)
_zeros = bytes(64 * MIB)
BOMBS = [pytest.param(codec, press(_zeros), id=press.__name__) for codec, press in COMPRESSORS]
_text = bytes(range(256)) * 1000
TEXTS = [pytest.param(codec, press(_text), id=press.__name__) for codec, press in COMPRESSORS]
del _zeros


@pytest.mark.parametrize(("codec", "data"), TEXTS)
def test_output_up_to_the_limit(codec: str, data: bytes) -> None:
    assert decompress(codec, memoryview(data), limit=len(_text)) == _text
    with pytest.raises(Malformed, match="output") as caught:
        decompress(codec, data, limit=len(_text) - 1)
    assert codec != "zstd" or caught.value.offset == 0


# In a process of its own: tracemalloc does not see what native code allocates, and a child's
# ru_maxrss begins at its parent's. VmHWM is the peak of this process alone, in KiB.
PEAK = """
import sys
from barnabas.specs.malformed import Malformed
from barnabas.specs.records.compression import decompress

def peak():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

codec, limit, data = sys.argv[1], int(sys.argv[2]), sys.stdin.buffer.read()
before = peak()
try:
    decompress(codec, data, limit=limit)
except Malformed:
    print(peak() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
@pytest.mark.parametrize(("codec", "data"), BOMBS)
def test_bombs_are_bounded_in_native_memory(codec: str, data: bytes) -> None:
    limit = 4 * MIB
    command = [sys.executable, "-c", PEAK, codec, str(limit)]
    child = subprocess.run(command, input=data, capture_output=True, check=True)
    # Twice the limit and, in lz4, what the library needs for a block of 4 MiB; a bomb is 64 MiB.
    assert int(child.stdout) * 1024 < 2 * limit + 16 * MIB


@pytest.mark.parametrize(("codec", "data"), TEXTS)
def test_truncated_input(codec: str, data: bytes) -> None:
    for cut in (0, 1, 5, len(data) // 2, len(data) - 1):
        with pytest.raises(Malformed):
            decompress(codec, data[:cut])


def test_declared_sizes_are_not_trusted() -> None:
    snappy = b"\xff\xff\xff\x3f" + bytes(100)  # 128 MiB less one byte, in 104
    with pytest.raises(Malformed, match="cannot come out"):
        decompress("snappy", snappy)
    zstd = b"\x28\xb5\x2f\xfd\xe0" + (2**62).to_bytes(8, "little") + b"\x01\x00\x00"
    with pytest.raises(Malformed):
        decompress("zstd", zstd)


@pytest.mark.parametrize(
    ("codec", "data", "output"),
    [
        ("gzip", _gzip(b"") * 20_000, b""),  # in linear time
        ("gzip", _gzip(b"a") + _gzip(b"b") + b"rubbish", b"ab"),  # as Java ignores it
        ("snappy", _xerial(b"a") + _xerial(b"b"), b"ab"),
        ("snappy", _raw_snappy(b"abc" * 100), b"abc" * 100),
        ("snappy", _raw_snappy(bytes(1 << 20)), bytes(1 << 20)),
        ("zstd", _zstd(bytes(256 << 10)), bytes(256 << 10)),  # four times the first buffer
    ],
    ids=["tiny members", "no member", "appended streams", "raw", "raw zeros", "zstd zeros"],
)
def test_what_a_stream_may_be(codec: str, data: bytes, output: bytes) -> None:
    assert decompress(codec, data) == output


def test_lz4_content_checksum_is_not_looked_at_but_a_block_checksum_is() -> None:
    descriptor = b"\x74\x40"
    frame = lz4.MAGIC + descriptor + bytes((lz4.header_checksum(descriptor),))
    frame += b"\x01\0\0\x80a"  # a block of one byte, not compressed
    checksum = bytes.fromhex("56740d55")
    assert decompress("lz4", frame + checksum + lz4.END_MARK + b"????") == b"a"
    with pytest.raises(Malformed, match="lz4"):
        decompress("lz4", frame + b"????" + lz4.END_MARK + b"????")


def test_lz4_header_checksum_is_looked_at_from_magic_1_on() -> None:
    frame = bytearray(_lz4(b"abc"))
    frame[6] ^= 1
    assert decompress("lz4", bytes(frame), magic=0) == b"abc"
    with pytest.raises(Malformed, match="checksum"):
        decompress("lz4", bytes(frame), magic=1)


@pytest.mark.parametrize("flags", [0x40, 0x20, 0xA0, 0x61, 0x62])
def test_lz4_of_dependent_blocks_or_another_version_is_refused(flags: int) -> None:
    descriptor = bytes((flags, 0x40))
    frame = lz4.MAGIC + descriptor + bytes((lz4.header_checksum(descriptor),)) + lz4.END_MARK
    with pytest.raises(Malformed, match="lz4 at byte 4: independent blocks of version 1"):
        decompress("lz4", frame)


def test_an_unknown_codec() -> None:
    with pytest.raises(Malformed, match="codec"):
        decompress("unknown-5", b"")


@given(st.binary(max_size=200))
@example(bytes(1 << 17))
def test_checksums_are_those_of_another_implementation(data: bytes) -> None:
    assert xxh32(data) == xxhash.xxh32_intdigest(data)
    assert xxh64(data) == xxhash.xxh64_intdigest(data)


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
    even = bytes((*range(100, 200), *range(100, 105), *range(20, 33)))  # compressed, as many bytes
    assert records.compress("lz4", even)[7:11] == struct.pack("<I", len(even) | (1 << 31))


def test_what_no_codec_is_called_is_not_compressed() -> None:
    with pytest.raises(LookupError, match="no codec 'brotli'"):
        compress("brotli", b"")
