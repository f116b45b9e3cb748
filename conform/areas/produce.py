"""Produce: offsets, errors, record batches."""

from __future__ import annotations

from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import Check, check
from barnabas.conform.logs import batch, expect_values, fetch, produce


@check(
    "produce/base-offset",
    "ProduceResponse.json",
    needs={"Produce": 3},
)
async def base_offset(broker: Broker) -> None:
    """Each batch is answered with the offset of its first record."""
    topic = await broker.topic()
    for offset, values in ((0, "ab"), (2, "cd")):
        stored = await produce(broker, topic, batch(*values))
        stored.expect(error_code="NONE", base_offset=offset)


@check(
    "produce/message-too-large",
    "TopicConfig.MAX_MESSAGE_BYTES_CONFIG",
    needs={"Produce": 3, "Fetch": 4},
)
async def message_too_large(broker: Broker) -> None:
    """A batch above max.message.bytes gets MESSAGE_TOO_LARGE and is not stored."""
    topic = await broker.topic(max_message_bytes="1000")
    (await produce(broker, topic, batch("x" * 5000))).expect(error_code="MESSAGE_TOO_LARGE")
    expect_values(await fetch(broker, topic, 0, max_wait_ms=0))


@check(
    "produce/bad-crc",
    "DefaultRecordBatch.ensureValid",
    needs={"Produce": 3, "Fetch": 4},
)
async def bad_crc(broker: Broker) -> None:
    """A batch with a wrong checksum gets CORRUPT_MESSAGE and is not stored."""
    topic = await broker.topic()
    data = bytearray(batch("value"))
    data[-2] ^= 1
    (await produce(broker, topic, bytes(data))).expect(error_code="CORRUPT_MESSAGE")
    expect_values(await fetch(broker, topic, 0, max_wait_ms=0))


@check(
    "produce/acks-zero",
    "ProduceRequest.json, acks",
    needs={"Produce": 3, "Fetch": 4},
)
async def acks_zero(broker: Broker) -> None:
    """A Produce request with acks=0 gets no response."""
    topic = await broker.topic()
    version = broker.version("Produce", 3, 12)
    leader = await broker.leader(topic)
    await leader.write(
        "Produce",
        version,
        acks=0,
        timeout_ms=5000,
        topic_data=[{"name": topic, "partition_data": [{"index": 0, "records": batch("value")}]}],
    )
    leader.unanswered()
    await leader.send("ApiVersions", 0)
    expect_values(await fetch(broker, topic, 0), "value")


CHECKS: Final[tuple[Check, ...]] = (base_offset, message_too_large, bad_crc, acks_zero)
