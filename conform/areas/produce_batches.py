"""Produce: which record batches are valid."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from barnabas.conform.batches import ATTRIBUTES, COUNT, LAST_OFFSET_DELTA, rewritten
from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.expectations import Not, OneOf
from barnabas.conform.logs import (
    TIME_MS,
    batch,
    expect_log,
    expect_values,
    fetch,
    produce,
    produced_topic,
    usable_version,
)
from barnabas.conform.operations import Read, Silence
from barnabas.specs.records import Record, build, read

NEEDS: Final = {"Produce": 3, "Fetch": 4}

INVALID: Final = ("INVALID_RECORD", "CORRUPT_MESSAGE")
"""Errors of an invalid batch; Apache Kafka has had the first one since KIP-467."""


async def expect_refused(broker: Broker, topic: str, data: bytes, *errors: str) -> None:
    """Produce a batch; expect one of some errors, and that the broker stores nothing."""
    (await produce(broker, topic, data)).expect(error_code=OneOf(*errors))
    await expect_log(broker, topic)


@check("produce/message-too-large", "TopicConfig.MAX_MESSAGE_BYTES_CONFIG", needs=NEEDS)
async def message_too_large(broker: Broker) -> None:
    """A batch above max.message.bytes gets MESSAGE_TOO_LARGE and is not stored."""
    topic = await broker.topic(max_message_bytes="1000")
    await expect_refused(broker, topic, batch("x" * 5000), "MESSAGE_TOO_LARGE")


@check("produce/bad-crc", "DefaultRecordBatch.ensureValid", needs=NEEDS)
async def bad_crc(broker: Broker) -> None:
    """A batch with a wrong checksum gets CORRUPT_MESSAGE and is not stored."""
    data = bytearray(batch("value"))
    data[-2] ^= 1
    await expect_refused(broker, await broker.topic(), bytes(data), "CORRUPT_MESSAGE")


@check("produce/two-batches", "ProduceRequest.validateRecords", level=SHOULD, needs=NEEDS)
async def two_batches(broker: Broker) -> None:
    """Two batches for one partition in a request get INVALID_RECORD."""
    await expect_refused(broker, await broker.topic(), batch("a") + batch("b"), "INVALID_RECORD")


@check(
    "produce/no-records",
    "ProduceRequest.validateRecords",
    level=SHOULD,
    needs=NEEDS,
    alone=True,
)
async def no_records(broker: Broker) -> None:
    """A partition without a batch gets INVALID_RECORD."""
    await expect_refused(broker, await broker.topic(), b"", "INVALID_RECORD")


@check("produce/null-records", "ProduceRequest.json, Records", needs=NEEDS, alone=True)
async def null_records(broker: Broker) -> None:
    """A Produce whose records are null stores nothing, and the broker serves other connections.

    Apache Kafka 3.9.1 and 4.3.1 neither answer nor close the connection; an error is better.
    """
    topic = await broker.topic()
    version = await usable_version(broker, "Produce", topic)
    name = await produced_topic(broker, topic, version)
    data = [{"index": 0, "records": None}]
    other = await broker.leader(topic, fresh=True)
    await other.write(
        "Produce", version, acks=-1, timeout_ms=1000, topic_data=[{**name, "partition_data": data}]
    )
    with suppress(Silence):
        await Read(other.number, 1)
    await expect_log(broker, topic)


@check("produce/magic-zero", "ProduceRequest.validateRecords", level=SHOULD, needs=NEEDS)
async def magic_zero(broker: Broker) -> None:
    """A message of magic 0 in Produce v3 or newer gets INVALID_RECORD."""
    data = build([Record(0, -1, None, b"a")], magic=0)
    await expect_refused(broker, await broker.topic(), data, "INVALID_RECORD")


@check("produce/magic-one", "ProduceRequest.validateRecords", level=SHOULD, needs=NEEDS)
async def magic_one(broker: Broker) -> None:
    """A message of magic 1 in Produce v3 or newer gets INVALID_RECORD."""
    data = build([Record(0, TIME_MS, None, b"a")], magic=1)
    await expect_refused(broker, await broker.topic(), data, "INVALID_RECORD")


@check("produce/truncated-batch", "DefaultRecordBatch.ensureValid", needs=NEEDS)
async def truncated_batch(broker: Broker) -> None:
    """A batch whose last bytes are missing gets an error and is not stored."""
    topic = await broker.topic()
    (await produce(broker, topic, batch("value")[:-3])).expect(error_code=Not("NONE"))
    await expect_log(broker, topic)


@check("produce/leader-epoch-ignored", "DefaultRecordBatch; twmb/franz-go#1229", needs=NEEDS)
async def leader_epoch_ignored(broker: Broker) -> None:
    """A batch is stored whatever the producer wrote as its partition leader epoch."""
    topic = await broker.topic()
    for offset, epoch in enumerate((0, 5)):
        stored = await produce(broker, topic, batch("a", partition_leader_epoch=epoch))
        stored.expect(error_code="NONE", base_offset=offset)


@check("produce/leader-epoch-set", "LogValidator; KIP-101", needs=NEEDS)
async def leader_epoch_set(broker: Broker) -> None:
    """A stored batch has the leader epoch of its partition."""
    topic = await broker.topic()
    leader_epoch = 0
    if broker.version("Metadata") >= 7:
        leader_epoch = (await broker.metadata(topic))["topics[0].partitions[0].leader_epoch"]
    (await produce(broker, topic, batch("a", partition_leader_epoch=5))).expect(error_code="NONE")
    fetched = await fetch(broker, topic, 0)
    expect_values(fetched, "a")
    received = next(read(fetched["records"])).partition_leader_epoch
    if received != leader_epoch:
        raise fetched.failed("records", f"leader epoch {leader_epoch}", f"{received}")


@check("produce/control-batch", "LogValidator.validateBatch", needs=NEEDS)
async def control_batch(broker: Broker) -> None:
    """A control batch of a client is refused as invalid: only brokers write markers."""
    commit = Record(0, TIME_MS, b"\0\0\0\1", b"\0\0\0\0\0\0")
    data = build([commit], is_control=True)
    await expect_refused(broker, await broker.topic(), data, *INVALID)


@check("produce/last-offset-delta", "LogValidator.validateBatch", needs=NEEDS)
async def last_offset_delta(broker: Broker) -> None:
    """A batch whose last offset delta does not fit its count is refused as invalid."""
    data = rewritten(batch("a", "b"), LAST_OFFSET_DELTA, 7)
    await expect_refused(broker, await broker.topic(), data, *INVALID)


@check("produce/base-offset-in-batch", "LogValidator.validateBatch", level=SHOULD, needs=NEEDS)
async def base_offset_in_batch(broker: Broker) -> None:
    """A batch whose base offset is not 0 gets INVALID_RECORD: the broker assigns offsets."""
    data = build([Record(offset, TIME_MS, None, b"v") for offset in (500, 501)])
    await expect_refused(broker, await broker.topic(), data, "INVALID_RECORD")


@check("produce/record-count", "DefaultRecordBatch.iterator", needs=NEEDS)
async def record_count(broker: Broker) -> None:
    """A batch that announces more records than it has is refused as invalid."""
    data = rewritten(rewritten(batch("a", "b"), COUNT, 3), LAST_OFFSET_DELTA, 2)
    await expect_refused(broker, await broker.topic(), data, *INVALID)


@check("produce/record-count-zero", "LogValidator.validateBatch", level=SHOULD, needs=NEEDS)
async def record_count_zero(broker: Broker) -> None:
    """A batch that announces no records gets INVALID_RECORD."""
    data = rewritten(rewritten(batch("a"), COUNT, 0), LAST_OFFSET_DELTA, -1)
    await expect_refused(broker, await broker.topic(), data, "INVALID_RECORD")


@check("produce/compacted-without-key", "KIP-467; LogValidator.validateKey", needs=NEEDS)
async def compacted_without_key(broker: Broker) -> None:
    """A record without a key gets INVALID_RECORD in a compacted topic."""
    topic = await broker.topic(cleanup_policy="compact")
    await expect_refused(broker, topic, batch("a"), "INVALID_RECORD")


@check("produce/record-errors", "KIP-467", level=SHOULD, needs={"Produce": 8})
async def record_errors(broker: Broker) -> None:
    """INVALID_RECORD comes with the indexes of the invalid records, and a message."""
    topic = await broker.topic(cleanup_policy="compact")
    data = build([Record(0, TIME_MS, b"k", b"a"), Record(1, TIME_MS, None, b"b")])
    refused = await produce(broker, topic, data)
    refused.expect(error_code="INVALID_RECORD", error_message=Not(None))
    rows = [row["batch_index"] for row in refused["record_errors"]]
    if rows != [1]:
        raise refused.failed("record_errors", "batch_index 1", f"batch indexes {rows}")


@check("produce/compression-unknown", "CompressionType.forId", needs=NEEDS)
async def compression_unknown(broker: Broker) -> None:
    """A batch of an unknown compression type gets an error and is not stored."""
    topic = await broker.topic()
    refused = await produce(broker, topic, rewritten(batch("a"), ATTRIBUTES, 7))
    refused.expect(error_code=Not("NONE"))
    await expect_log(broker, topic)


@check("produce/garbage-compressed", "DefaultRecordBatch.iterator", needs=NEEDS)
async def garbage_compressed(broker: Broker) -> None:
    """A gzip batch whose data is not gzip gets an error and is not stored."""
    topic = await broker.topic()
    refused = await produce(broker, topic, rewritten(batch("abc"), ATTRIBUTES, 1))
    refused.expect(error_code=Not("NONE"))
    await expect_log(broker, topic)


CHECKS: Final[tuple[Check, ...]] = (
    message_too_large,
    bad_crc,
    two_batches,
    no_records,
    null_records,
    magic_zero,
    magic_one,
    truncated_batch,
    leader_epoch_ignored,
    leader_epoch_set,
    control_batch,
    last_offset_delta,
    base_offset_in_batch,
    record_count,
    record_count_zero,
    compacted_without_key,
    record_errors,
    compression_unknown,
    garbage_compressed,
)
