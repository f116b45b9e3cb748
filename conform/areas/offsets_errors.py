"""ListOffsets: topics, partitions and leader epochs that are unknown."""

from __future__ import annotations

from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.offsets import (
    LATEST,
    list_offsets,
)
from barnabas.conform.partitions import other_broker

NEEDS: Final = {"Produce": 3, "ListOffsets": 1}


@check("offsets/unknown-topic", "KafkaApis.handleListOffsetRequest", needs={"ListOffsets": 1})
async def unknown_topic(broker: Broker) -> None:
    """An unknown topic gets UNKNOWN_TOPIC_OR_PARTITION."""
    unknown = broker.name("topic")
    refused = await list_offsets(broker, unknown, LATEST, on=broker.main)
    refused.expect(error_code="UNKNOWN_TOPIC_OR_PARTITION")


@check("offsets/unknown-partition", "KafkaApis.handleListOffsetRequest", needs={"ListOffsets": 1})
async def unknown_partition(broker: Broker) -> None:
    """A partition that the topic lacks gets UNKNOWN_TOPIC_OR_PARTITION."""
    topic = await broker.topic()
    refused = await list_offsets(broker, topic, LATEST, on=broker.main, partition_index=99)
    refused.expect(partition_index=99, error_code="UNKNOWN_TOPIC_OR_PARTITION")


@check("offsets/unknown-leader-epoch", "KIP-320", needs={"ListOffsets": 4})
async def unknown_leader_epoch(broker: Broker) -> None:
    """A leader epoch that is newer than the broker's gets UNKNOWN_LEADER_EPOCH."""
    topic = await broker.topic()
    refused = await list_offsets(broker, topic, LATEST, current_leader_epoch=99)
    refused.expect(error_code="UNKNOWN_LEADER_EPOCH")


@check(
    "offsets/duplicate-partition",
    "KafkaApis.handleListOffsetRequest",
    level=SHOULD,
    needs={"ListOffsets": 1},
)
async def duplicate_partition(broker: Broker) -> None:
    """A partition that a request names twice gets INVALID_REQUEST."""
    topic = await broker.topic()
    row = {"partition_index": 0, "current_leader_epoch": -1, "timestamp": LATEST}
    response = await (await broker.leader(topic)).send(
        "ListOffsets",
        broker.version("ListOffsets", 1),
        replica_id=-1,
        topics=[{"name": topic, "partitions": [row, row]}],
        timeout_ms=5_000,
    )
    response.at("topics[0].partitions[0]").expect(error_code="INVALID_REQUEST")


@check("offsets/not-leader", "ListOffsetsResponse.json", needs={"ListOffsets": 1})
async def not_leader(broker: Broker) -> None:
    """A broker that does not lead the partition answers NOT_LEADER_OR_FOLLOWER."""
    topic = await broker.topic()
    other = await other_broker(broker, topic)
    refused = await list_offsets(broker, topic, LATEST, on=other)
    refused.expect(error_code="NOT_LEADER_OR_FOLLOWER")


CHECKS: Final[tuple[Check, ...]] = (
    unknown_topic,
    unknown_partition,
    unknown_leader_epoch,
    duplicate_partition,
    not_leader,
)
