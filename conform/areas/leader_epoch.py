"""OffsetForLeaderEpoch: where a leader epoch ended (KIP-101, KIP-279, KIP-320)."""

from __future__ import annotations

from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import Check, check
from barnabas.conform.logs import produced
from barnabas.conform.offsets import epoch_end
from barnabas.conform.partitions import other_broker

NEEDS: Final = {"Produce": 3, "OffsetForLeaderEpoch": 0}


@check(
    "leader-epoch/end-offset",
    "KIP-101",
    needs={**NEEDS, "Metadata": 7},
    each="OffsetForLeaderEpoch",
)
async def end_offset(broker: Broker) -> None:
    """The current leader epoch ends at the end of the log."""
    topic = await broker.topic()
    await produced(broker, topic, "a", "b")
    epoch = (await broker.metadata(topic))["topics[0].partitions[0].leader_epoch"]
    (await epoch_end(broker, topic, epoch)).expect(error_code="NONE", end_offset=2)


@check(
    "leader-epoch/epoch", "KIP-279", needs={"Produce": 3, "OffsetForLeaderEpoch": 1, "Metadata": 7}
)
async def epoch_returned(broker: Broker) -> None:
    """The response has the leader epoch whose end it gives."""
    topic = await broker.topic()
    await produced(broker, topic, "a")
    epoch = (await broker.metadata(topic))["topics[0].partitions[0].leader_epoch"]
    response = await epoch_end(broker, topic, epoch)
    response.expect(error_code="NONE", leader_epoch=epoch, end_offset=1)


@check("leader-epoch/unknown", "KIP-101; KIP-279", needs=NEEDS)
async def unknown(broker: Broker) -> None:
    """A leader epoch that is newer than all has no end: offset -1, epoch -1."""
    topic = await broker.topic()
    await produced(broker, topic, "a")
    response = await epoch_end(broker, topic, 50)
    response.expect(error_code="NONE", end_offset=-1)
    if response.request.version >= 1:
        response.expect(leader_epoch=-1)


@check("leader-epoch/empty", "KIP-101", needs={"OffsetForLeaderEpoch": 0, "Metadata": 7})
async def empty(broker: Broker) -> None:
    """The current leader epoch of an empty log ends at 0."""
    topic = await broker.topic()
    epoch = (await broker.metadata(topic))["topics[0].partitions[0].leader_epoch"]
    (await epoch_end(broker, topic, epoch)).expect(error_code="NONE", end_offset=0)


@check(
    "leader-epoch/unknown-topic",
    "OffsetForLeaderEpochResponse.json",
    needs={"OffsetForLeaderEpoch": 0},
)
async def unknown_topic(broker: Broker) -> None:
    """An unknown topic gets UNKNOWN_TOPIC_OR_PARTITION."""
    unknown_name = broker.name("topic")
    refused = await epoch_end(broker, unknown_name, 0, on=broker.main)
    refused.expect(error_code="UNKNOWN_TOPIC_OR_PARTITION")


@check(
    "leader-epoch/unknown-partition",
    "OffsetForLeaderEpochResponse.json",
    needs={"OffsetForLeaderEpoch": 0},
)
async def unknown_partition(broker: Broker) -> None:
    """A partition that the topic lacks gets UNKNOWN_TOPIC_OR_PARTITION."""
    topic = await broker.topic()
    refused = await epoch_end(broker, topic, 0, on=broker.main, partition=99)
    refused.expect(partition=99, error_code="UNKNOWN_TOPIC_OR_PARTITION")


@check("leader-epoch/current-too-new", "KIP-320", needs={"OffsetForLeaderEpoch": 2})
async def current_too_new(broker: Broker) -> None:
    """A current leader epoch that is newer than the broker's gets UNKNOWN_LEADER_EPOCH."""
    topic = await broker.topic()
    refused = await epoch_end(broker, topic, 0, current_leader_epoch=99)
    refused.expect(error_code="UNKNOWN_LEADER_EPOCH")


@check("leader-epoch/not-leader", "KIP-320", needs={"OffsetForLeaderEpoch": 2})
async def not_leader(broker: Broker) -> None:
    """A broker that does not lead the partition answers NOT_LEADER_OR_FOLLOWER."""
    topic = await broker.topic()
    other = await other_broker(broker, topic)
    refused = await epoch_end(broker, topic, 0, on=other)
    refused.expect(error_code="NOT_LEADER_OR_FOLLOWER")


CHECKS: Final[tuple[Check, ...]] = (
    end_offset,
    epoch_returned,
    unknown,
    empty,
    unknown_topic,
    unknown_partition,
    current_too_new,
    not_leader,
)
