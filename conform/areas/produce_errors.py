"""Produce: requests that are refused."""

from __future__ import annotations

import uuid
from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.logs import batch, expect_log, produce, produced
from barnabas.conform.operations import Sleep
from barnabas.conform.partitions import (
    other_broker,
    parts,
    produce_all,
)


@check(
    "produce/acks-zero-error",
    "KafkaApis.handleProduceRequest",
    level=SHOULD,
    needs={"Produce": 3},
)
async def acks_zero_error(broker: Broker) -> None:
    """The broker closes the connection if a Produce with acks=0 gets an error."""
    unknown = broker.name("topic")
    version = broker.version("Produce", 3, 12)
    other = await broker.connect()
    await other.write(
        "Produce",
        version,
        acks=0,
        timeout_ms=5000,
        topic_data=[{"name": unknown, "partition_data": [{"index": 0, "records": batch("a")}]}],
    )
    await other.expect_closed(3)


@check(
    "produce/acks-invalid",
    "ProduceRequest.json, acks; ReplicaManager.isValidRequiredAcks",
    needs={"Produce": 3, "Fetch": 4},
)
async def acks_invalid(broker: Broker) -> None:
    """A Produce with acks=5 gets INVALID_REQUIRED_ACKS and stores nothing."""
    topic = await broker.topic()
    refused = await produce(broker, topic, batch("a"), acks=5)
    refused.expect(error_code="INVALID_REQUIRED_ACKS")
    await expect_log(broker, topic)


@check(
    "produce/unknown-topic",
    "KafkaApis.handleProduceRequest",
    needs={"Produce": 3, "Metadata": 4},
)
async def unknown_topic(broker: Broker) -> None:
    """A Produce to an unknown topic gets UNKNOWN_TOPIC_OR_PARTITION and creates no topic."""
    unknown = broker.name("topic")
    version = broker.version("Produce", 3, 12)
    refused = await produce(broker, unknown, batch("a"), version=version, on=broker.main)
    refused.expect(error_code="UNKNOWN_TOPIC_OR_PARTITION")
    await Sleep(0.2)
    metadata = await broker.metadata(unknown)
    metadata.at("topics[0]").expect(error_code="UNKNOWN_TOPIC_OR_PARTITION")


@check(
    "produce/unknown-partition",
    "KafkaApis.handleProduceRequest",
    needs={"Produce": 3},
)
async def unknown_partition(broker: Broker) -> None:
    """A Produce to a partition that the topic lacks gets UNKNOWN_TOPIC_OR_PARTITION."""
    topic = await broker.topic()
    refused = await produce(broker, topic, batch("a"), partition=99, on=broker.main)
    refused.expect(index=99, error_code="UNKNOWN_TOPIC_OR_PARTITION")


@check(
    "produce/unknown-topic-id",
    "KIP-516; ProduceRequest.json v13",
    needs={"Produce": 13},
)
async def unknown_topic_id(broker: Broker) -> None:
    """A Produce to an unknown topic id gets UNKNOWN_TOPIC_ID."""
    unknown = uuid.UUID(int=0x6261726E61626173 << 64 | 1)
    response = await broker.send(
        "Produce",
        acks=-1,
        timeout_ms=5000,
        topic_data=[{"topic_id": unknown, "partition_data": [{"index": 0, "records": batch("a")}]}],
    )
    refused = response.at("responses[0]").expect(topic_id=unknown)
    refused.at("partition_responses[0]").expect(error_code="UNKNOWN_TOPIC_ID")


@check(
    "produce/partial-failure",
    "ProduceResponse.json",
    needs={"Produce": 3, "Fetch": 4},
)
async def partial_failure(broker: Broker) -> None:
    """An error of a partition does not keep the broker from storing the records of others in one Produce."""
    topic = await broker.topic()
    leader = await broker.leader(topic)
    stored = await produce_all(broker, topic, {99: batch("a"), 0: batch("b")}, on=leader)
    stored[99].expect(error_code="UNKNOWN_TOPIC_OR_PARTITION")
    stored[0].expect(error_code="NONE", base_offset=0)
    await expect_log(broker, topic, "b")


@check(
    "produce/not-leader",
    "ProduceResponse.json; KIP-951",
    needs={"Produce": 3},
)
async def not_leader(broker: Broker) -> None:
    """A broker that does not lead the partition answers NOT_LEADER_OR_FOLLOWER and stores nothing."""
    topic = await broker.topic()
    other = await other_broker(broker, topic)
    refused = await produce(broker, topic, batch("a"), on=other)
    refused.expect(error_code="NOT_LEADER_OR_FOLLOWER")
    await produced(broker, topic, "b")
    await expect_log(broker, topic, "b")


@check(
    "produce/not-leader-endpoint",
    "KIP-951",
    needs={"Produce": 10},
)
async def not_leader_endpoint(broker: Broker) -> None:
    """NOT_LEADER_OR_FOLLOWER comes with the leader's id, epoch and address."""
    topic = await broker.topic()
    metadata = await broker.metadata(topic)
    leader = metadata["topics[0].partitions[0].leader_id"]
    other = await other_broker(broker, topic)
    refused = await produce(broker, topic, batch("a"), on=other)
    refused.expect(error_code="NOT_LEADER_OR_FOLLOWER", current_leader={"leader_id": leader})
    whole = type(refused)(refused.request, refused.frame, refused.body)
    expected = next(row for row in metadata["brokers"] if row["node_id"] == leader)
    endpoint = parts(whole, "node_endpoints", "node_id").get(leader)
    if endpoint is None:
        raise whole.failed("node_endpoints", f"broker {leader}", f"{whole['node_endpoints']}")
    endpoint.expect(host=expected["host"], port=expected["port"])


CHECKS: Final[tuple[Check, ...]] = (
    acks_zero_error,
    acks_invalid,
    unknown_topic,
    unknown_partition,
    unknown_topic_id,
    partial_failure,
    not_leader,
    not_leader_endpoint,
)
