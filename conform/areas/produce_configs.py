"""Produce: timestamps and compression, which settings of the topic change."""

from __future__ import annotations

from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.expectations import AtLeast
from barnabas.conform.logs import (
    TIME_MS,
    batch,
    expect_log,
    expect_values,
    fetch,
    produce,
    read_log,
    records_of,
)
from barnabas.specs.records import read

NEEDS: Final = {"Produce": 3, "Fetch": 4}

VALUES: Final = tuple(f"value {number % 7} of a batch that compresses well" for number in range(50))

YEAR_2100: Final = 4_102_444_800_000


@check("produce/create-time", "KIP-32; ProduceResponse.json", needs=NEEDS)
async def create_time(broker: Broker) -> None:
    """With CreateTime, log_append_time_ms is -1 and records keep their timestamps."""
    topic = await broker.topic()
    times = (TIME_MS + 5, TIME_MS)
    stored = await produce(broker, topic, batch("a", "b", timestamps=times))
    stored.expect(error_code="NONE", log_append_time_ms=-1)
    fetched = await fetch(broker, topic, 0)
    received = tuple(record.timestamp for record in records_of(fetched))
    if received != times:
        raise fetched.failed("records", f"timestamps {times}", f"{received}")


@check("produce/log-append-time", "KIP-32; ProduceResponse.json", needs=NEEDS)
async def log_append_time(broker: Broker) -> None:
    """With LogAppendTime, the response has the broker's time, and the records read back have it too."""
    topic = await broker.topic(message_timestamp_type="LogAppendTime")
    stored = await produce(broker, topic, batch("a", "b"))
    stored.expect(error_code="NONE", log_append_time_ms=AtLeast(TIME_MS + 1))
    fetched = await fetch(broker, topic, 0)
    batches = list(read(fetched["records"]))
    received = {
        (record.timestamp, each.timestamp_type) for each in batches for record in each.records()
    }
    expected = {(stored["log_append_time_ms"], "LogAppendTime")}
    if received != expected:
        raise fetched.failed("records", f"timestamps {expected}", f"{received}")


@check("produce/timestamp-too-new", "KIP-937", level=SHOULD, needs=NEEDS, since="3.6.0")
async def timestamp_too_new(broker: Broker) -> None:
    """A timestamp beyond message.timestamp.after.max.ms gets INVALID_TIMESTAMP."""
    topic = await broker.topic(message_timestamp_after_max_ms="1000")
    refused = await produce(broker, topic, batch("a", timestamps=[YEAR_2100]))
    refused.expect(error_code="INVALID_TIMESTAMP")
    await expect_log(broker, topic)


@check("produce/timestamp-too-old", "KIP-937", level=SHOULD, needs=NEEDS, since="3.6.0")
async def timestamp_too_old(broker: Broker) -> None:
    """A timestamp older than message.timestamp.before.max.ms gets INVALID_TIMESTAMP."""
    topic = await broker.topic(message_timestamp_before_max_ms="1000")
    refused = await produce(broker, topic, batch("a", timestamps=[TIME_MS]))
    refused.expect(error_code="INVALID_TIMESTAMP")
    await expect_log(broker, topic)


async def expect_kept(broker: Broker, codec: str) -> None:
    """Produce a compressed batch; expect that it is read back with its codec and values."""
    topic = await broker.topic()
    (await produce(broker, topic, batch(*VALUES, compression=codec))).expect(
        error_code="NONE", base_offset=0
    )
    fetched = await fetch(broker, topic, 0)
    expect_values(fetched, *VALUES)
    codecs = [each.compression for each in read(fetched["records"])]
    if codecs != [codec]:
        raise fetched.failed("records", f"one batch of {codec}", f"{codecs}")


@check("produce/compression-gzip", "CompressionType", needs=NEEDS)
async def compression_gzip(broker: Broker) -> None:
    """A batch compressed with gzip is read back the same."""
    await expect_kept(broker, "gzip")


@check("produce/compression-snappy", "CompressionType", needs=NEEDS)
async def compression_snappy(broker: Broker) -> None:
    """A batch compressed with snappy is read back the same."""
    await expect_kept(broker, "snappy")


@check("produce/compression-lz4", "CompressionType; KIP-57", needs=NEEDS)
async def compression_lz4(broker: Broker) -> None:
    """A batch compressed with lz4 is read back the same."""
    await expect_kept(broker, "lz4")


@check("produce/compression-zstd", "CompressionType; KIP-110", needs={"Produce": 7, "Fetch": 10})
async def compression_zstd(broker: Broker) -> None:
    """A batch compressed with zstd is read back the same."""
    await expect_kept(broker, "zstd")


@check("produce/zstd-old-version", "KIP-110", needs=NEEDS)
async def zstd_old_version(broker: Broker) -> None:
    """A zstd batch in Produce v6 or older gets UNSUPPORTED_COMPRESSION_TYPE."""
    version = broker.version("Produce", 3, 6)
    topic = await broker.topic()
    refused = await produce(broker, topic, batch("a", compression="zstd"), version=version)
    refused.expect(error_code="UNSUPPORTED_COMPRESSION_TYPE")
    await expect_log(broker, topic)


@check(
    "produce/topic-compression", "TopicConfig.COMPRESSION_TYPE_CONFIG", level=SHOULD, needs=NEEDS
)
async def topic_compression(broker: Broker) -> None:
    """A topic with compression.type=gzip stores all batches compressed with gzip."""
    topic = await broker.topic(compression_type="gzip")
    (await produce(broker, topic, batch(*VALUES))).expect(error_code="NONE")
    (await produce(broker, topic, batch(*VALUES, compression="lz4"))).expect(error_code="NONE")
    await expect_log(broker, topic, *VALUES, *VALUES)
    batches, fetched = await read_log(broker, topic)
    codecs = [each.compression for each in batches]
    if codecs != ["gzip", "gzip"]:
        raise fetched.failed("records", "two batches of gzip", f"{codecs}")


@check(
    "produce/topic-uncompressed", "TopicConfig.COMPRESSION_TYPE_CONFIG", level=SHOULD, needs=NEEDS
)
async def topic_uncompressed(broker: Broker) -> None:
    """A topic with compression.type=uncompressed stores a gzip batch uncompressed."""
    topic = await broker.topic(compression_type="uncompressed")
    (await produce(broker, topic, batch(*VALUES, compression="gzip"))).expect(error_code="NONE")
    fetched = await fetch(broker, topic, 0)
    expect_values(fetched, *VALUES)
    codecs = [each.compression for each in read(fetched["records"])]
    if codecs != ["none"]:
        raise fetched.failed("records", "one uncompressed batch", f"{codecs}")


CHECKS: Final[tuple[Check, ...]] = (
    create_time,
    log_append_time,
    timestamp_too_new,
    timestamp_too_old,
    compression_gzip,
    compression_snappy,
    compression_lz4,
    compression_zstd,
    zstd_old_version,
    topic_compression,
    topic_uncompressed,
)
