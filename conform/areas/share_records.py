"""Share groups (KIP-932): how often records are delivered, and the group's offsets."""

from __future__ import annotations

from typing import Any, Final

from barnabas.conform.areas.share import JOINS, KIP, READS
from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.expectations import AtLeast
from barnabas.conform.logs import produced
from barnabas.conform.response import Response
from barnabas.conform.shares import RELEASE, ShareConsumer, member

DELIVERIES: Final = 5
"""How often a record is delivered, by default (group.share.delivery.count.limit)."""


async def _offset(consumer: ShareConsumer, topic: str) -> Response:
    """Describe the share group's start offset of partition 0, and return the partition's part."""
    response = await consumer.coordinator.send(
        "DescribeShareGroupOffsets",
        groups=[
            {
                "group_id": consumer.group,
                "topics": [{"topic_name": topic, "partitions": [0]}],
            }
        ],
    )
    group = response.at("groups[0]").expect(error_code="NONE")
    return group.at("topics[0].partitions[0]")


@check("share/delivery-limit", KIP, level=SHOULD, needs=READS)
async def delivery_limit(broker: Broker) -> None:
    """A record that was released after its fifth delivery is not delivered again."""
    topic = await broker.topic()
    await produced(broker, topic, "a")
    consumer = await member(broker, topic)
    for count in range(1, DELIVERIES + 1):
        part = await consumer.acquired()
        part.at("acquired_records[0]").expect(first_offset=0, delivery_count=count)
        (await consumer.acknowledge((0, 0, RELEASE))).expect(error_code="NONE")
    await produced(broker, topic, "b")
    (await consumer.acquired()).at("acquired_records[0]").expect(first_offset=1, delivery_count=1)


async def _alter(consumer: ShareConsumer, topic: str, offset: int) -> Response:
    rows: Any = [{"partition_index": 0, "start_offset": offset}]
    return await consumer.coordinator.send(
        "AlterShareGroupOffsets",
        group_id=consumer.group,
        topics=[{"topic_name": topic, "partitions": rows}],
    )


@check("share/offsets-of-members", KIP, needs={**JOINS, "AlterShareGroupOffsets": 0})
async def offsets_of_members(broker: Broker) -> None:
    """Offsets of a share group with members can't be altered or deleted: NON_EMPTY_GROUP."""
    topic = await broker.topic()
    consumer = await member(broker, topic)
    (await _alter(consumer, topic, 0)).expect(error_code="NON_EMPTY_GROUP")
    response = await consumer.coordinator.send(
        "DeleteShareGroupOffsets", group_id=consumer.group, topics=[{"topic_name": topic}]
    )
    response.expect(error_code="NON_EMPTY_GROUP")


@check(
    "share/alter-offsets",
    KIP,
    needs={**READS, "AlterShareGroupOffsets": 0, "DescribeShareGroupOffsets": 0},
)
async def alter_offsets(broker: Broker) -> None:
    """The offset of a share group without members is altered, and described with its new value."""
    topic = await broker.topic()
    await produced(broker, topic, "a", "b", "c")
    consumer = await member(broker, topic)
    await consumer.acquired()
    (await consumer.heartbeat(-1)).expect(error_code="NONE")
    part = (await _alter(consumer, topic, 1)).expect(error_code="NONE")
    part.at("responses[0].partitions[0]").expect(error_code="NONE")
    (await _offset(consumer, topic)).expect(error_code="NONE", start_offset=1)


@check("share/rejoin", "KIP-932; apache/kafka#21309 (KAFKA-19233)", needs=JOINS, since="4.3.0")
async def rejoin(broker: Broker) -> None:
    """A member that joins again with epoch 0, at whatever epoch it was, gets its partitions."""
    topics = [await broker.topic(), await broker.topic()]
    consumer = await member(broker, topics[0])
    for number in (2, 1, 2):
        (await consumer.heartbeat(topics=topics[:number])).expect(error_code="NONE")
    (await consumer.heartbeat(0, topics)).expect(error_code="NONE", member_epoch=AtLeast(1))


CHECKS: Final[tuple[Check, ...]] = (
    delivery_limit,
    offsets_of_members,
    alter_offsets,
    rejoin,
)
