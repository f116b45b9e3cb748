"""Partitions that move to another broker: their data, leader epochs and producers."""

from __future__ import annotations

from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import Check, check
from barnabas.conform.logs import batch, expect_log, expect_values, fetch, produce, produced
from barnabas.conform.moves import NEEDS, move, two_brokers
from barnabas.conform.offsets import LATEST, epoch_end, list_offsets
from barnabas.conform.partitions import other_broker
from barnabas.conform.producers import new_producer


async def moved_topic(broker: Broker) -> tuple[str, int]:
    """Create a topic with the records a and b, and move it; return it with its first leader epoch."""
    topic = await broker.topic()
    _, other = await two_brokers(broker, topic)
    await produced(broker, topic, "a", "b")
    epoch = (await broker.metadata(topic))["topics[0].partitions[0].leader_epoch"]
    await move(broker, topic, [other])
    return topic, epoch


@check("fetch/after-move", "KIP-455", needs=NEEDS)
async def records_moved(broker: Broker) -> None:
    """The new leader of a partition has its records, and goes on with its offsets."""
    topic, _ = await moved_topic(broker)
    (await produce(broker, topic, batch("c"))).expect(error_code="NONE", base_offset=2)
    await expect_log(broker, topic, "a", "b", "c")


@check("produce/old-leader", "KIP-455", needs=NEEDS)
async def old_leader(broker: Broker) -> None:
    """The former leader of a partition refuses its records."""
    topic, _ = await moved_topic(broker)
    former = await other_broker(broker, topic)
    (await produce(broker, topic, batch("c"), on=former)).expect(
        error_code="NOT_LEADER_OR_FOLLOWER"
    )
    await expect_log(broker, topic, "a", "b")


@check("fetch/fenced-leader-epoch", "KIP-320", needs=NEEDS)
async def fetch_fenced(broker: Broker) -> None:
    """A Fetch with an older leader epoch than the broker's gets FENCED_LEADER_EPOCH."""
    topic, epoch = await moved_topic(broker)
    refused = await fetch(broker, topic, 0, current_leader_epoch=epoch)
    refused.expect(error_code="FENCED_LEADER_EPOCH")


@check("offsets/fenced-leader-epoch", "KIP-320", needs=NEEDS)
async def offsets_fenced(broker: Broker) -> None:
    """A ListOffsets with an older leader epoch than the broker's gets FENCED_LEADER_EPOCH."""
    topic, epoch = await moved_topic(broker)
    refused = await list_offsets(broker, topic, LATEST, current_leader_epoch=epoch)
    refused.expect(error_code="FENCED_LEADER_EPOCH")


@check("leader-epoch/fenced", "KIP-320", needs={**NEEDS, "OffsetForLeaderEpoch": 2})
async def epoch_fenced(broker: Broker) -> None:
    """An OffsetForLeaderEpoch with an older current leader epoch gets FENCED_LEADER_EPOCH."""
    topic, epoch = await moved_topic(broker)
    refused = await epoch_end(broker, topic, epoch, current_leader_epoch=epoch)
    refused.expect(error_code="FENCED_LEADER_EPOCH")


@check("leader-epoch/old-end", "KIP-101; KIP-279", needs={**NEEDS, "OffsetForLeaderEpoch": 1})
async def old_end(broker: Broker) -> None:
    """An old leader epoch ends where the next one begins."""
    topic, epoch = await moved_topic(broker)
    await produced(broker, topic, "c")
    ended = await epoch_end(broker, topic, epoch)
    ended.expect(error_code="NONE", leader_epoch=epoch, end_offset=2)


@check(
    "idempotence/after-move", "KIP-98; ProducerStateManager", needs={**NEEDS, "InitProducerId": 0}
)
async def duplicate_after_move(broker: Broker) -> None:
    """The new leader of a partition recognizes batches that the former one stored."""
    producer = await new_producer(broker)
    _, other = await two_brokers(broker, producer.topic)
    await producer.sent(0, "a", "b")
    await move(broker, producer.topic, [other])
    (await producer.send(0, "a", "b")).expect(error_code="NONE", base_offset=0)
    (await producer.send(2, "c")).expect(error_code="NONE", base_offset=2)
    await expect_log(broker, producer.topic, "a", "b", "c")


@check("fetch/from-follower", "KIP-392", needs={**NEEDS, "Fetch": 11})
async def from_follower(broker: Broker) -> None:
    """A follower answers a consumer's Fetch with records below its high watermark."""
    topic = await broker.topic()
    await move(broker, topic, await two_brokers(broker, topic))
    await produced(broker, topic, "a")
    follower = await other_broker(broker, topic)
    expect_values(await fetch(broker, topic, 0, on=follower, max_wait_ms=5000), "a")


@check("produce/to-follower", "ProduceResponse.json", needs=NEEDS)
async def to_follower(broker: Broker) -> None:
    """A follower answers a Produce with NOT_LEADER_OR_FOLLOWER."""
    topic = await broker.topic()
    await move(broker, topic, await two_brokers(broker, topic))
    follower = await other_broker(broker, topic)
    refused = await produce(broker, topic, batch("a"), on=follower)
    refused.expect(error_code="NOT_LEADER_OR_FOLLOWER")


CHECKS: Final[tuple[Check, ...]] = (
    records_moved,
    old_leader,
    fetch_fenced,
    offsets_fenced,
    epoch_fenced,
    old_end,
    duplicate_after_move,
    from_follower,
    to_follower,
)
