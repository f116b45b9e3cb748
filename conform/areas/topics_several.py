"""CreateTopics, DeleteTopics, CreatePartitions and Metadata: several topics, and refused ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from barnabas.conform.areas.topics import create_topics, delete_topics
from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.response import Response

CREATES: Final = {"CreateTopics": 0}
GROWS: Final = {"CreateTopics": 0, "CreatePartitions": 0}
NOBODY: Final = 4711
"""The id of a broker that the cluster does not have."""


def expect_errors(response: Response, array: str, expected: Mapping[str, str]) -> None:
    """Expect one entry for each name, with its error. Raises Failed."""
    received = [
        (row["name"], response[f"{array}[{index}].error_code"])
        for index, row in enumerate(response[array])
    ]
    if sorted(received) != sorted(expected.items()):
        raise response.failed(array, f"{dict(expected)}", f"{dict(received)}")


async def _partitions(
    broker: Broker, *topics: Mapping[str, Any], validate_only: bool = False
) -> Response:
    """Send CreatePartitions."""
    rows = [{"assignments": None, **topic} for topic in topics]
    return await broker.send(
        "CreatePartitions", topics=rows, timeout_ms=10_000, validate_only=validate_only
    )


@check("topics/create-several", "CreateTopicsResponse.json", needs=CREATES)
async def create_several(broker: Broker) -> None:
    """A CreateTopics of several topics has an error code for each, and creates those that can be."""
    good, bad, present = broker.name("topic"), broker.name("topic"), await broker.topic()
    response = await create_topics(
        broker, {"name": bad, "num_partitions": 0}, {"name": good}, {"name": present}
    )
    expected = {bad: "INVALID_PARTITIONS", good: "NONE", present: "TOPIC_ALREADY_EXISTS"}
    expect_errors(response, "topics", expected)
    await broker.wait_served(good)
    (await broker.metadata(good)).at("topics[0]").expect(name=good, error_code="NONE")


@check("topics/create-zero-replicas", "ReplicationControlManager", needs=CREATES)
async def create_zero_replicas(broker: Broker) -> None:
    """A topic with 0 replicas gets INVALID_REPLICATION_FACTOR."""
    response = await create_topics(broker, {"name": broker.name("topic"), "replication_factor": 0})
    response.at("topics[0]").expect(error_code="INVALID_REPLICATION_FACTOR")


@check("topics/create-negative-partitions", "ReplicationControlManager", needs=CREATES)
async def create_negative_partitions(broker: Broker) -> None:
    """A topic with -2 partitions gets INVALID_PARTITIONS."""
    response = await create_topics(broker, {"name": broker.name("topic"), "num_partitions": -2})
    response.at("topics[0]").expect(error_code="INVALID_PARTITIONS")


@check("topics/create-empty-name", "Topic.validate", needs=CREATES)
async def create_empty_name(broker: Broker) -> None:
    """A topic with an empty name gets INVALID_TOPIC_EXCEPTION."""
    broker.created.append(("topic", ""))
    response = await create_topics(broker, {"name": ""})
    response.at("topics[0]").expect(error_code="INVALID_TOPIC_EXCEPTION")


async def _assigned(broker: Broker, replicas: Mapping[int, int]) -> Response:
    """Create a topic with one replica of each partition, and return its part of the response."""
    rows = [{"partition_index": index, "broker_ids": [node]} for index, node in replicas.items()]
    response = await create_topics(
        broker,
        {
            "name": broker.name("topic"),
            "num_partitions": -1,
            "replication_factor": -1,
            "assignments": rows,
        },
    )
    return response.at("topics[0]")


@check("topics/create-assigned-nobody", "ReplicationControlManager", needs=CREATES)
async def create_assigned_nobody(broker: Broker) -> None:
    """A topic that is assigned to an unknown broker gets INVALID_REPLICA_ASSIGNMENT."""
    part = await _assigned(broker, {0: NOBODY})
    part.expect(error_code="INVALID_REPLICA_ASSIGNMENT")


@check("topics/create-assigned-gap", "ReplicationControlManager", needs=CREATES)
async def create_assigned_gap(broker: Broker) -> None:
    """A topic whose assignments leave out a partition gets INVALID_REPLICA_ASSIGNMENT."""
    node = (await broker.metadata())["brokers[0].node_id"]
    part = await _assigned(broker, {0: node, 2: node})
    part.expect(error_code="INVALID_REPLICA_ASSIGNMENT")


@check("topics/delete-several", "DeleteTopicsResponse.json", needs={**CREATES, "DeleteTopics": 0})
async def delete_several(broker: Broker) -> None:
    """A DeleteTopics of several topics has an error code for each, and deletes those that exist."""
    topics, unknown = [await broker.topic(), await broker.topic()], broker.name("topic")
    response = await delete_topics(broker, topics[0], unknown, topics[1])
    expected = dict.fromkeys(topics, "NONE") | {unknown: "UNKNOWN_TOPIC_OR_PARTITION"}
    expect_errors(response, "responses", expected)


@check(
    "topics/delete-twice-in-request",
    "ControllerApis.deleteTopics",
    level=SHOULD,
    needs={**CREATES, "DeleteTopics": 6},
)
async def delete_twice_in_request(broker: Broker) -> None:
    """A topic that stands twice in a DeleteTopics gets INVALID_REQUEST, and is not deleted."""
    topic = await broker.topic()
    response = await delete_topics(broker, topic, topic)
    response.at("responses[0]").expect(error_code="INVALID_REQUEST")
    (await broker.metadata(topic)).at("topics[0]").expect(error_code="NONE")


@check("topics/partitions-several", "CreatePartitionsResponse.json; nisshi-io/nisshi", needs=GROWS)
async def partitions_several(broker: Broker) -> None:
    """A CreatePartitions of several topics has an error code for each."""
    good, bad, unknown = await broker.topic(), await broker.topic(2), broker.name("topic")
    response = await _partitions(
        broker,
        {"name": bad, "count": 1},
        {"name": good, "count": 3},
        {"name": unknown, "count": 3},
    )
    expected = {
        bad: "INVALID_PARTITIONS",
        good: "NONE",
        unknown: "UNKNOWN_TOPIC_OR_PARTITION",
    }
    expect_errors(response, "results", expected)


@check("topics/partitions-validate-only", "KIP-195", needs=GROWS)
async def partitions_validate_only(broker: Broker) -> None:
    """A CreatePartitions that is validated only succeeds, and adds no partition."""
    topic, sentinel = await broker.topic(), await broker.topic()
    response = await _partitions(broker, {"name": topic, "count": 3}, validate_only=True)
    expect_errors(response, "results", {topic: "NONE"})
    response = await _partitions(broker, {"name": sentinel, "count": 2})
    expect_errors(response, "results", {sentinel: "NONE"})
    await broker.wait_served(sentinel)
    metadata = await broker.metadata(topic)
    count = len(metadata["topics[0].partitions"])
    if count != 1:
        raise metadata.failed("topics[0].partitions", "1 partition", f"{count}")


@check("topics/partitions-assigned", "KIP-195", needs=GROWS)
async def partitions_assigned(broker: Broker) -> None:
    """A CreatePartitions with fewer assignments than new partitions gets INVALID_REPLICA_ASSIGNMENT."""
    topic = await broker.topic()
    node = (await broker.metadata())["brokers[0].node_id"]
    response = await _partitions(
        broker, {"name": topic, "count": 3, "assignments": [{"broker_ids": [node]}]}
    )
    expect_errors(response, "results", {topic: "INVALID_REPLICA_ASSIGNMENT"})


@check(
    "topics/partitions-twice-in-request",
    "ControllerApis.createPartitions",
    level=SHOULD,
    needs=GROWS,
)
async def partitions_twice_in_request(broker: Broker) -> None:
    """A topic that stands twice in a CreatePartitions gets INVALID_REQUEST."""
    topic = await broker.topic()
    response = await _partitions(broker, {"name": topic, "count": 2}, {"name": topic, "count": 3})
    response.at("results[0]").expect(name=topic, error_code="INVALID_REQUEST")


@check("metadata/partial-failure", "MetadataResponse.json", needs={"Metadata": 4})
async def metadata_partial_failure(broker: Broker) -> None:
    """An unknown topic does not keep Metadata from describing the others of a request."""
    topic, unknown, other = await broker.topic(), broker.name("topic"), await broker.topic()
    response = await broker.metadata(topic, unknown, other)
    expected = {topic: "NONE", unknown: "UNKNOWN_TOPIC_OR_PARTITION", other: "NONE"}
    expect_errors(response, "topics", expected)


async def _reassign(broker: Broker, topic: str, replicas: list[int] | None) -> Response:
    """Send AlterPartitionReassignments of partition 0; return the partition's part of the response."""
    rows = [{"partition_index": 0, "replicas": replicas}]
    response = await broker.send(
        "AlterPartitionReassignments",
        timeout_ms=10_000,
        allow_replication_factor_change=True,
        topics=[{"name": topic, "partitions": rows}],
    )
    return response.expect(error_code="NONE").at("responses[0].partitions[0]")


REASSIGNS: Final = {"AlterPartitionReassignments": 0, **CREATES}


@check("topics/reassign-unknown", "KIP-455", needs=REASSIGNS)
async def reassign_unknown(broker: Broker) -> None:
    """A reassignment of an unknown topic gets UNKNOWN_TOPIC_OR_PARTITION."""
    part = await _reassign(broker, broker.name("topic"), None)
    part.expect(error_code="UNKNOWN_TOPIC_OR_PARTITION")


@check("topics/reassign-cancel-none", "KIP-455", needs=REASSIGNS)
async def reassign_cancel_none(broker: Broker) -> None:
    """Canceling a reassignment that does not exist gets NO_REASSIGNMENT_IN_PROGRESS."""
    part = await _reassign(broker, await broker.topic(), None)
    part.expect(error_code="NO_REASSIGNMENT_IN_PROGRESS")


@check("topics/reassign-nobody", "KIP-455", needs=REASSIGNS)
async def reassign_nobody(broker: Broker) -> None:
    """A reassignment to an unknown broker gets INVALID_REPLICA_ASSIGNMENT."""
    part = await _reassign(broker, await broker.topic(), [NOBODY])
    part.expect(error_code="INVALID_REPLICA_ASSIGNMENT")


@check("topics/elect-unknown", "KIP-460", needs={"ElectLeaders": 0, "CreateTopics": 0})
async def elect_unknown(broker: Broker) -> None:
    """Electing a leader of an unknown topic gets UNKNOWN_TOPIC_OR_PARTITION."""
    response = await broker.send(
        "ElectLeaders",
        election_type=0,
        topic_partitions=[{"topic": broker.name("topic"), "partitions": [0]}],
        timeout_ms=10_000,
    )
    part = response.at("replica_election_results[0].partition_result[0]")
    part.expect(error_code="UNKNOWN_TOPIC_OR_PARTITION")


CHECKS: Final[tuple[Check, ...]] = (
    create_several,
    create_zero_replicas,
    create_negative_partitions,
    create_empty_name,
    create_assigned_nobody,
    create_assigned_gap,
    delete_several,
    delete_twice_in_request,
    partitions_several,
    partitions_validate_only,
    partitions_assigned,
    partitions_twice_in_request,
    metadata_partial_failure,
    reassign_unknown,
    reassign_cancel_none,
    reassign_nobody,
    elect_unknown,
)
