"""Records: a consumer reads what a producer wrote."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

import cramjam

from barnabas.conform.batches import ATTRIBUTES, rewritten
from barnabas.conform.broker import Broker
from barnabas.conform.check import INFO, SHOULD, Check, check
from barnabas.conform.expectations import OneOf, shown
from barnabas.conform.logs import (
    TIME_MS,
    batch,
    expect_log,
    expect_values,
    fetch,
    produce,
    produced,
    read_log,
    records_of,
)
from barnabas.specs.records import Record, build
from barnabas.specs.records.compression import raw_snappy
from barnabas.specs.records.lz4 import END_MARK, MAGIC, header_checksum
from barnabas.specs.records.xxhash import xxh32

NEEDS: Final = {"Produce": 3, "Fetch": 4}

LEADER_EPOCH_END: Final = 16
"""The byte offset in a batch from which on the producer decides what is stored."""


async def expect_same(broker: Broker, records: Sequence[Record], data: bytes | None = None) -> None:
    """Produce a batch, and expect that its records are read back the same."""
    topic = await broker.topic()
    (await produce(broker, topic, data or build(records))).expect(error_code="NONE", base_offset=0)
    fetched = (await fetch(broker, topic, 0)).expect(error_code="NONE")
    received = records_of(fetched)
    if received != list(records):
        for expected, got in zip(records, received, strict=False):
            if expected != got:
                raise fetched.failed("records", shown(expected), shown(got))
        raise fetched.failed("records", f"{len(records)} records", f"{len(received)} records")


def plain_records(count: int, size: int) -> list[Record]:
    """Return records whose values have a size in bytes and differ."""
    return [
        Record(number, TIME_MS + number, b"k%d" % number, (b"%08d" % number * size)[:size])
        for number in range(count)
    ]


@check("records/headers", "KIP-82", needs=NEEDS)
async def headers(broker: Broker) -> None:
    """Headers keep their order, repeated keys, empty keys and null values."""
    pairs = (("b", b"1"), ("a", None), ("b", b""), ("", b"\0\xff"), ("\u00fc", b"2"))
    await expect_same(
        broker, [Record(0, TIME_MS, b"k", b"v", pairs), Record(1, TIME_MS, None, b"w")]
    )


@check("records/many-headers", "KIP-82", needs=NEEDS)
async def many_headers(broker: Broker) -> None:
    """A record may have a thousand headers."""
    pairs = tuple((f"h{number}", b"%d" % number) for number in range(1000))
    await expect_same(broker, [Record(0, TIME_MS, None, b"v", pairs)])


@check("records/null-and-empty", "KIP-98", needs=NEEDS)
async def null_and_empty(broker: Broker) -> None:
    """Null keys and values differ from empty ones."""
    pairs = ((None, None), (b"", b""), (None, b""), (b"", None))
    await expect_same(
        broker, [Record(number, TIME_MS, key, value) for number, (key, value) in enumerate(pairs)]
    )


@check("records/all-bytes", "KIP-98", needs=NEEDS)
async def all_bytes(broker: Broker) -> None:
    """Keys and values may hold any bytes."""
    every = bytes(range(256))
    await expect_same(broker, [Record(0, TIME_MS, every, every[::-1])])


@check("records/timestamps", "KIP-32", needs=NEEDS)
async def timestamps(broker: Broker) -> None:
    """Records keep their timestamps, also if they are not in order, 0 or -1."""
    times = (TIME_MS, TIME_MS - 50_000, 0, -1, TIME_MS + 1)
    await expect_same(broker, [Record(at, time, None, b"v") for at, time in enumerate(times)])


@check("records/offsets-contiguous", "UnifiedLog.append", needs=NEEDS)
async def offsets_contiguous(broker: Broker) -> None:
    """Records of successive batches have successive offsets."""
    topic = await broker.topic()
    for count in (1, 3, 2, 4):
        await produced(broker, topic, *"abcd"[:count])
    batches, fetched = await read_log(broker, topic)
    received = [record.offset for each in batches for record in each.records()]
    if received != list(range(10)):
        raise fetched.failed("records", "offsets 0 to 9", f"{received}")


@check("records/bytes-unchanged", "LogValidator", level=SHOULD, needs=NEEDS)
async def bytes_unchanged(broker: Broker) -> None:
    """A stored batch has the producer's bytes, except for its offset and leader epoch."""
    topic = await broker.topic()
    data = build(plain_records(5, 20), compression="gzip")
    (await produce(broker, topic, data)).expect(error_code="NONE")
    fetched = await fetch(broker, topic, 0)
    received = bytes(fetched["records"] or b"")
    if received[LEADER_EPOCH_END:] != data[LEADER_EPOCH_END:]:
        raise fetched.failed("records", "the producer's bytes", "others")


@check("records/checksum", "DefaultRecordBatch.ensureValid", needs=NEEDS)
async def checksum(broker: Broker) -> None:
    """Stored batches have valid checksums, also if the broker changed them."""
    topic = await broker.topic(message_timestamp_type="LogAppendTime", compression_type="gzip")
    await produced(broker, topic, "a", "b")
    await produced(broker, topic, "c", compression="lz4")
    await expect_log(broker, topic, "a", "b", "c")
    batches, fetched = await read_log(broker, topic)
    for each in batches:
        if not each.crc_ok:
            raise fetched.failed("records", f"checksum {each.computed_crc}", f"{each.crc}")


@check("records/thousand", "DefaultRecordBatch", needs=NEEDS)
async def thousand(broker: Broker) -> None:
    """A batch of 1,000 records of 900 bytes is read back the same."""
    await expect_same(broker, plain_records(1000, 900))


@check("records/large-value", "TopicConfig.MAX_MESSAGE_BYTES_CONFIG", needs=NEEDS)
async def large_value(broker: Broker) -> None:
    """A record of 990,000 bytes is read back the same: it is below the default max.message.bytes."""
    await expect_same(broker, plain_records(1, 990_000))


async def expect_large(broker: Broker, codec: str) -> None:
    """Expect that 1,000 compressed records of 900 bytes are read back the same."""
    records = plain_records(1000, 900)
    await expect_same(broker, records, build(records, compression=codec))


@check("records/thousand-gzip", "CompressionType", needs=NEEDS)
async def thousand_gzip(broker: Broker) -> None:
    """A gzip batch of 1,000 records of 900 bytes is read back the same."""
    await expect_large(broker, "gzip")


@check("records/thousand-snappy", "CompressionType", needs=NEEDS)
async def thousand_snappy(broker: Broker) -> None:
    """A snappy batch of 1,000 records of 900 bytes, in many chunks, is read back the same."""
    await expect_large(broker, "snappy")


@check("records/thousand-lz4", "CompressionType", needs=NEEDS)
async def thousand_lz4(broker: Broker) -> None:
    """An lz4 batch of 1,000 records of 900 bytes, in many blocks, is read back the same."""
    await expect_large(broker, "lz4")


@check("records/thousand-zstd", "KIP-110", needs={"Produce": 7, "Fetch": 10})
async def thousand_zstd(broker: Broker) -> None:
    """A zstd batch of 1,000 records of 900 bytes is read back the same."""
    await expect_large(broker, "zstd")


def lz4_with_checksums(data: bytes) -> bytes:
    """Compress data to an lz4 frame of one block with its checksum."""
    descriptor = b"\x70\x40"
    block = bytes(cramjam.lz4.compress_block(data, store_size=False))
    return b"".join(
        (
            MAGIC + descriptor + bytes((header_checksum(descriptor),)),
            struct.pack("<I", len(block)) + block + struct.pack("<I", xxh32(block)),
            END_MARK,
        )
    )


@check("records/lz4-block-checksum", "KIP-57; Lz4BlockInputStream", needs=NEEDS)
async def lz4_block_checksum(broker: Broker) -> None:
    """An lz4 frame with block checksums is read back the same."""
    records = plain_records(20, 100)
    data = build(records, compression="lz4", compressor=lz4_with_checksums)
    await expect_same(broker, records, data)


@check("records/snappy-raw", "SnappyInputStream", level=SHOULD, needs=NEEDS)
async def snappy_raw(broker: Broker) -> None:
    """A snappy batch without xerial's framing, which librdkafka writes, is read back the same."""
    records = plain_records(20, 100)
    await expect_same(broker, records, build(records, compression="snappy", compressor=raw_snappy))


@check("records/reserved-attributes", "DefaultRecordBatch", level=INFO, needs=NEEDS)
async def reserved_attributes(broker: Broker) -> None:
    """A batch with an unused bit in its attributes is stored or refused, not misread."""
    topic = await broker.topic()
    stored = await produce(broker, topic, rewritten(batch("a"), ATTRIBUTES, 1 << 9))
    stored.expect(error_code=OneOf("NONE", "INVALID_RECORD", "CORRUPT_MESSAGE"))
    values = ["a"] if stored["error_code"] == "NONE" else []
    await expect_log(broker, topic, *values)


async def expect_old_stored(broker: Broker, magic: int, version: int) -> None:
    """Produce a message of magic 0 or 1; expect that consumers of all versions read it.

    Apache Kafka 4 offers Produce v0 to v2 for old clients' sake, refuses them (KAFKA-18659), and offers no
    Fetch below v4.
    """
    broker.version("Produce", version, version)
    old_fetch = broker.version("Fetch", 2, 3)
    topic = await broker.topic()
    data = build([Record(0, TIME_MS if magic else -1, b"k", b"v")], magic=magic)
    (await produce(broker, topic, data, version=version)).expect(error_code="NONE", base_offset=0)
    expect_values(await fetch(broker, topic, 0), "v")
    expect_values(await fetch(broker, topic, 0, version=old_fetch), "v")


@check("records/magic-zero", "KIP-724", level=INFO, needs={"Produce": 0, "Fetch": 4})
async def magic_zero(broker: Broker) -> None:
    """A message of magic 0 in Produce v1 is stored and can be fetched."""
    await expect_old_stored(broker, 0, 1)


@check("records/magic-one", "KIP-724", level=INFO, needs={"Produce": 2, "Fetch": 4})
async def magic_one(broker: Broker) -> None:
    """A message of magic 1 in Produce v2 is stored and can be fetched."""
    await expect_old_stored(broker, 1, 2)


def zstd_without_size(data: bytes) -> bytes:
    """Compress data as a stream: the frame does not announce its size."""
    compressor = cramjam.zstd.Compressor()
    compressor.compress(data)
    return bytes(compressor.finish())


@check("records/zstd-without-size", "ZstdCompression; KIP-110", needs={"Produce": 7, "Fetch": 10})
async def zstd_streamed(broker: Broker) -> None:
    """A zstd frame without its size, which Java's clients write, is read back the same."""
    records = plain_records(20, 100)
    data = build(records, compression="zstd", compressor=zstd_without_size)
    await expect_same(broker, records, data)


CHECKS: Final[tuple[Check, ...]] = (
    headers,
    many_headers,
    null_and_empty,
    all_bytes,
    timestamps,
    offsets_contiguous,
    bytes_unchanged,
    checksum,
    thousand,
    large_value,
    thousand_gzip,
    thousand_snappy,
    thousand_lz4,
    thousand_zstd,
    lz4_block_checksum,
    snappy_raw,
    reserved_attributes,
    magic_zero,
    magic_one,
    zstd_streamed,
)
