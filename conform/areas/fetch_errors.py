"""Fetch: offsets, topics, partitions and leader epochs that are unknown or out of range."""

from __future__ import annotations

import uuid
from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import INFO, SHOULD, Check, check
from barnabas.conform.expectations import Not, OneOf
from barnabas.conform.logs import (
    expect_values,
    fetch,
    fetch_fields,
    produced,
)
from barnabas.conform.offsets import delete_records
from barnabas.conform.partitions import fetch_all, other_broker

NEEDS: Final = {"Produce": 3, "Fetch": 4}


@check("fetch/beyond-end", "UnifiedLog.read", needs=NEEDS)
async def beyond_end(broker: Broker) -> None:
    """A Fetch from an offset beyond the end gets OFFSET_OUT_OF_RANGE."""
    topic = await broker.topic()
    await produced(broker, topic, "a", "b")
    (await fetch(broker, topic, 99)).expect(error_code="OFFSET_OUT_OF_RANGE")


@check("fetch/negative-offset", "UnifiedLog.read", needs=NEEDS)
async def negative_offset(broker: Broker) -> None:
    """A Fetch from a negative offset gets OFFSET_OUT_OF_RANGE."""
    topic = await broker.topic()
    await produced(broker, topic, "a")
    (await fetch(broker, topic, -1)).expect(error_code="OFFSET_OUT_OF_RANGE")


@check("fetch/before-start", "KIP-107", needs={**NEEDS, "DeleteRecords": 0})
async def before_start(broker: Broker) -> None:
    """A Fetch from a deleted offset gets OFFSET_OUT_OF_RANGE."""
    topic = await broker.topic()
    await produced(broker, topic, "a")
    await produced(broker, topic, "b")
    (await delete_records(broker, topic, 1)).expect(error_code="NONE")
    (await fetch(broker, topic, 0)).expect(error_code="OFFSET_OUT_OF_RANGE")
    expect_values(await fetch(broker, topic, 1), "b")


@check(
    "fetch/error-without-records",
    "KafkaApis.handleFetchRequest; redpanda-data/redpanda#24781",
    level=SHOULD,
    needs=NEEDS,
)
async def error_without_records(broker: Broker) -> None:
    """A partition with an error has no records, and a high watermark of -1 or the true one."""
    topic = await broker.topic()
    await produced(broker, topic, "a", "b")
    refused = await fetch(broker, topic, 99)
    refused.expect(error_code=Not("NONE"), records=OneOf(b"", None), high_watermark=OneOf(-1, 2))


@check("fetch/unknown-topic", "KafkaApis.handleFetchRequest", needs={"Fetch": 4})
async def unknown_topic(broker: Broker) -> None:
    """A Fetch of an unknown topic's name gets UNKNOWN_TOPIC_OR_PARTITION."""
    unknown = broker.name("topic")
    version = broker.version("Fetch", 4, 12)
    refused = await fetch(broker, unknown, 0, version=version, on=broker.main)
    refused.expect(error_code="UNKNOWN_TOPIC_OR_PARTITION")


@check("fetch/unknown-topic-id", "KIP-516", needs={"Fetch": 13})
async def unknown_topic_id(broker: Broker) -> None:
    """A Fetch of an unknown topic id gets UNKNOWN_TOPIC_ID."""
    topic = await broker.topic()
    unknown = uuid.UUID(int=0x6261726E61626173 << 64 | 2)
    version = broker.version("Fetch", 13)
    body = await fetch_fields(broker, topic, 0, version)
    body["topics"][0]["topic_id"] = unknown
    response = await broker.send("Fetch", version, **body)
    response.expect(error_code="NONE")
    refused = response.at("responses[0]").expect(topic_id=unknown)
    refused.at("partitions[0]").expect(error_code="UNKNOWN_TOPIC_ID")


@check("fetch/unknown-partition", "KafkaApis.handleFetchRequest", needs={"Fetch": 4})
async def unknown_partition(broker: Broker) -> None:
    """A Fetch of a partition that the topic lacks gets UNKNOWN_TOPIC_OR_PARTITION."""
    topic = await broker.topic()
    refused = await fetch(broker, topic, 0, partition=99, on=broker.main)
    refused.expect(partition_index=99, error_code="UNKNOWN_TOPIC_OR_PARTITION")


@check("fetch/partial-failure", "FetchResponse.json", needs=NEEDS)
async def partial_failure(broker: Broker) -> None:
    """An error of a partition does not keep a Fetch from returning the others' records."""
    topic = await broker.topic()
    await produced(broker, topic, "a")
    leader = await broker.leader(topic)
    fetched = await fetch_all(broker, topic, [(99, 0), (0, 0)], on=leader)
    fetched[99].expect(error_code="UNKNOWN_TOPIC_OR_PARTITION")
    expect_values(fetched[0], "a")


@check("fetch/unknown-leader-epoch", "KIP-320", needs={"Fetch": 9})
async def unknown_leader_epoch(broker: Broker) -> None:
    """A Fetch whose leader epoch is newer than the broker's gets UNKNOWN_LEADER_EPOCH."""
    topic = await broker.topic()
    refused = await fetch(broker, topic, 0, current_leader_epoch=99)
    refused.expect(error_code="UNKNOWN_LEADER_EPOCH")


@check("fetch/current-leader-epoch", "KIP-320", needs={"Produce": 3, "Fetch": 9, "Metadata": 7})
async def current_leader_epoch(broker: Broker) -> None:
    """A Fetch with the leader epoch of Metadata returns records."""
    topic = await broker.topic()
    await produced(broker, topic, "a")
    epoch = (await broker.metadata(topic))["topics[0].partitions[0].leader_epoch"]
    expect_values(await fetch(broker, topic, 0, current_leader_epoch=epoch), "a")


@check(
    "fetch/diverging-epoch",
    "KIP-595; FetchResponse.json",
    level=INFO,
    needs={"Produce": 3, "Fetch": 12},
)
async def diverging_epoch(broker: Broker) -> None:
    """A Fetch from beyond the end of its last fetched epoch is answered with that epoch's end."""
    topic = await broker.topic()
    await produced(broker, topic, "a", "b")
    fetched = await fetch(broker, topic, 9, last_fetched_epoch=0)
    fetched.expect(error_code="NONE", diverging_epoch={"epoch": 0, "end_offset": 2})


@check("fetch/foreign-replica", "ReplicaManager; KIP-903", level=INFO, needs=NEEDS)
async def foreign_replica(broker: Broker) -> None:
    """A Fetch of a follower that is not a replica of the partition gets an error."""
    topic = await broker.topic()
    await produced(broker, topic, "a")
    refused = await fetch(
        broker,
        topic,
        0,
        replica_id=7777,
        replica_state={"replica_id": 7777, "replica_epoch": -1},
    )
    refused.expect(error_code=Not("NONE"))


@check("fetch/not-leader", "KIP-392; KIP-951", needs=NEEDS)
async def not_leader(broker: Broker) -> None:
    """A broker that is not a replica of the partition answers NOT_LEADER_OR_FOLLOWER."""
    topic = await broker.topic()
    other = await other_broker(broker, topic)
    refused = await fetch(broker, topic, 0, on=other)
    refused.expect(error_code="NOT_LEADER_OR_FOLLOWER")


CHECKS: Final[tuple[Check, ...]] = (
    beyond_end,
    negative_offset,
    before_start,
    error_without_records,
    unknown_topic,
    unknown_topic_id,
    unknown_partition,
    partial_failure,
    unknown_leader_epoch,
    current_leader_epoch,
    diverging_epoch,
    foreign_replica,
    not_leader,
)
