"""CreateTopics, DeleteTopics, CreatePartitions and others: topics and what they are made of."""

from __future__ import annotations

import uuid
from typing import Any, Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.expectations import AtLeast, OneOf
from barnabas.conform.logs import fetch, produced
from barnabas.conform.operations import Now, Sleep
from barnabas.conform.response import Response

NO_ID: Final = uuid.UUID(int=0)


async def create_topics(
    broker: Broker, *topics: dict[str, Any], validate_only: bool = False
) -> Response:
    """Send CreateTopics; each topic has one partition and one replica, if it says nothing else."""
    usual = {"num_partitions": 1, "replication_factor": 1, "assignments": [], "configs": []}
    return await broker.send(
        "CreateTopics",
        topics=[{**usual, **topic} for topic in topics],
        timeout_ms=10_000,
        validate_only=validate_only,
    )


async def delete_topics(broker: Broker, *topics: str) -> Response:
    """Send DeleteTopics with names."""
    version = broker.version("DeleteTopics")
    named: dict[str, Any] = (
        {"topics": [{"name": topic, "topic_id": NO_ID} for topic in topics]}
        if version >= 6
        else {"topic_names": list(topics)}
    )
    return await broker.send("DeleteTopics", version, timeout_ms=10_000, **named)


async def _gone(broker: Broker, topic: str) -> Response:
    """Return metadata of a topic once it is unknown, or after 5 s."""
    deadline = await Now() + 5
    while True:
        response = await broker.metadata(topic)
        unknown = response["topics[0].error_code"] == "UNKNOWN_TOPIC_OR_PARTITION"
        if unknown or await Now() > deadline:
            return response
        await Sleep(0.05)


async def grow(broker: Broker, topic: str, count: int) -> Response:
    """Send CreatePartitions, and return the topic's part of the response."""
    response = await broker.send(
        "CreatePartitions",
        topics=[{"name": topic, "count": count, "assignments": None}],
        timeout_ms=10_000,
        validate_only=False,
    )
    return response.at("results[0]").expect(name=topic)


NEEDS: Final = {"CreateTopics": 0}


@check("topics/create-exists", "KIP-4", needs=NEEDS, each="CreateTopics")
async def create_exists(broker: Broker) -> None:
    """A name that is in use gets TOPIC_ALREADY_EXISTS."""
    topic = await broker.topic()
    response = await create_topics(broker, {"name": topic})
    response.at("topics[0]").expect(name=topic, error_code="TOPIC_ALREADY_EXISTS")


@check("topics/create-zero-partitions", "KIP-4, ReplicationControlManager", needs=NEEDS)
async def create_zero_partitions(broker: Broker) -> None:
    """A topic with 0 partitions gets INVALID_PARTITIONS."""
    response = await create_topics(broker, {"name": broker.name("topic"), "num_partitions": 0})
    response.at("topics[0]").expect(error_code="INVALID_PARTITIONS")


@check("topics/create-default-partitions", "KIP-464", level=SHOULD, needs={"CreateTopics": 5})
async def create_default_partitions(broker: Broker) -> None:
    """With -1 partitions and replicas the broker uses its defaults and returns them."""
    topic = {"name": broker.name("topic"), "num_partitions": -1, "replication_factor": -1}
    part = (await create_topics(broker, topic)).at("topics[0]")
    part.expect(error_code="NONE", num_partitions=AtLeast(1), replication_factor=AtLeast(1))


@check("topics/create-too-many-replicas", "KIP-4, ReplicationControlManager", needs=NEEDS)
async def create_too_many_replicas(broker: Broker) -> None:
    """More replicas than brokers get INVALID_REPLICATION_FACTOR."""
    response = await create_topics(broker, {"name": broker.name("topic"), "replication_factor": 99})
    response.at("topics[0]").expect(error_code="INVALID_REPLICATION_FACTOR")


@check("topics/create-invalid-name", "Topic.validate", needs=NEEDS)
async def create_invalid_name(broker: Broker) -> None:
    """Names with a slash, of two dots, and of 250 characters get INVALID_TOPIC_EXCEPTION."""
    names = ("a/b", "..", "x" * 250)
    broker.created.extend(("topic", name) for name in names)
    response = await create_topics(broker, *({"name": name} for name in names))
    rows = {row["name"]: index for index, row in enumerate(response["topics"])}
    for name in names:
        response.at(f"topics[{rows.get(name, 0)}]").expect(
            name=name, error_code="INVALID_TOPIC_EXCEPTION"
        )


@check("topics/create-colliding-name", "Topic.hasCollision", level=SHOULD, needs=NEEDS)
async def create_colliding_name(broker: Broker) -> None:
    """A name that differs from a topic's in a dot for an underscore gets INVALID_TOPIC_EXCEPTION."""
    prefix = broker.name("topic")
    broker.created.append(("topic", f"{prefix}.b"))
    await broker.create(f"{prefix}.b", 1, {})
    response = await create_topics(broker, {"name": f"{prefix}_b"})
    response.at("topics[0]").expect(error_code="INVALID_TOPIC_EXCEPTION")


@check(
    "topics/create-invalid-config", "ConfigurationControlManager, LogConfig.validate", needs=NEEDS
)
async def create_invalid_config(broker: Broker) -> None:
    """A config that is not a number where one is needed gets INVALID_CONFIG."""
    configs = [{"name": "retention.ms", "value": "abc"}]
    response = await create_topics(broker, {"name": broker.name("topic"), "configs": configs})
    response.at("topics[0]").expect(error_code="INVALID_CONFIG")


@check("topics/create-unknown-config", "LogConfig.validateNames", level=SHOULD, needs=NEEDS)
async def create_unknown_config(broker: Broker) -> None:
    """An unknown config gets INVALID_CONFIG."""
    configs = [{"name": "no.such.config", "value": "1"}]
    response = await create_topics(broker, {"name": broker.name("topic"), "configs": configs})
    response.at("topics[0]").expect(error_code="INVALID_CONFIG")


@check(
    "topics/create-validate-only", "KIP-4, validate_only", needs={"CreateTopics": 1, "Metadata": 4}
)
async def create_validate_only(broker: Broker) -> None:
    """A request that is validated only succeeds and creates no topic."""
    topic = broker.name("topic")
    response = await create_topics(broker, {"name": topic}, validate_only=True)
    response.at("topics[0]").expect(error_code="NONE")
    (await broker.metadata(topic)).at("topics[0]").expect(error_code="UNKNOWN_TOPIC_OR_PARTITION")


@check("topics/create-twice-in-request", "ControllerApis.createTopics", level=SHOULD, needs=NEEDS)
async def create_twice_in_request(broker: Broker) -> None:
    """A name that stands twice in one request gets INVALID_REQUEST."""
    topic = {"name": broker.name("topic")}
    response = await create_topics(broker, topic, topic)
    response.at("topics[0]").expect(error_code="INVALID_REQUEST")


@check("topics/create-count-and-assignments", "KIP-4, CreateTopicsRequest.json", needs=NEEDS)
async def create_count_and_assignments(broker: Broker) -> None:
    """A topic with both a partition count and assignments gets INVALID_REQUEST."""
    node = (await broker.metadata())["brokers[0].node_id"]
    assignments = [{"partition_index": 0, "broker_ids": [node]}]
    response = await create_topics(
        broker, {"name": broker.name("topic"), "assignments": assignments}
    )
    response.at("topics[0]").expect(error_code="INVALID_REQUEST")


@check("topics/create-assignments", "KIP-4, CreateTopicsRequest.json", needs=NEEDS)
async def create_assignments(broker: Broker) -> None:
    """A topic with assignments has these replicas."""
    topic = broker.name("topic")
    node = (await broker.metadata())["brokers[0].node_id"]
    assignments = [{"partition_index": index, "broker_ids": [node]} for index in (0, 1)]
    fields = {"name": topic, "num_partitions": -1, "replication_factor": -1}
    response = await create_topics(broker, {**fields, "assignments": assignments})
    response.at("topics[0]").expect(error_code="NONE")
    deadline = await Now() + 5
    while True:
        metadata = await broker.metadata(topic)
        replicas = {
            row["partition_index"]: row["replica_nodes"] for row in metadata["topics[0].partitions"]
        }
        if replicas == {0: [node], 1: [node]}:
            return
        if await Now() > deadline:
            raise metadata.failed("topics[0].partitions", f"replicas on {node}", f"{replicas}")
        await Sleep(0.05)


@check("topics/create-id", "KIP-516", needs={"CreateTopics": 7, "Metadata": 10})
async def create_id(broker: Broker) -> None:
    """CreateTopics returns the topic id that Metadata has."""
    topic = broker.name("topic")
    created = (
        (await create_topics(broker, {"name": topic})).at("topics[0]").expect(error_code="NONE")
    )
    deadline = await Now() + 5
    while True:
        metadata = (await broker.metadata(topic)).at("topics[0]")
        if metadata["error_code"] == "NONE" or await Now() > deadline:
            break
        await Sleep(0.05)
    metadata.expect(topic_id=created["topic_id"])


@check("topics/create-configs", "KIP-525", level=SHOULD, needs={"CreateTopics": 5})
async def create_configs(broker: Broker) -> None:
    """CreateTopics returns the topic's configs with their sources."""
    configs = [{"name": "retention.ms", "value": "123456"}]
    created = (await create_topics(broker, {"name": broker.name("topic"), "configs": configs})).at(
        "topics[0]"
    )
    rows = {row["name"]: index for index, row in enumerate(created["configs"])}
    if "retention.ms" not in rows:
        raise created.failed("configs", "retention.ms", f"{sorted(rows)}")
    dynamic_topic = 1
    created.at(f"configs[{rows['retention.ms']}]").expect(
        value="123456", config_source=dynamic_topic
    )


@check("topics/delete", "KIP-4", needs={"DeleteTopics": 0, "Metadata": 4}, each="DeleteTopics")
async def delete(broker: Broker) -> None:
    """A deleted topic disappears from Metadata."""
    topic = await broker.topic()
    (await delete_topics(broker, topic)).at("responses[0]").expect(error_code="NONE")
    (await _gone(broker, topic)).at("topics[0]").expect(error_code="UNKNOWN_TOPIC_OR_PARTITION")


@check(
    "topics/delete-unknown",
    "KIP-4",
    "redpanda#3382",
    needs={"DeleteTopics": 0},
    each="DeleteTopics",
)
async def delete_unknown(broker: Broker) -> None:
    """Deleting an unknown topic gets UNKNOWN_TOPIC_OR_PARTITION."""
    response = await delete_topics(broker, broker.name("topic"))
    response.at("responses[0]").expect(error_code="UNKNOWN_TOPIC_OR_PARTITION")


@check("topics/delete-by-id", "KIP-516", needs={"DeleteTopics": 6, "Metadata": 10})
async def delete_by_id(broker: Broker) -> None:
    """A topic is deleted by its id, and the response has its name."""
    topic = await broker.topic()
    topic_id = await broker.topic_id(topic)
    version = broker.version("DeleteTopics", 6)
    topics = [{"name": None, "topic_id": topic_id}]
    response = await broker.send("DeleteTopics", version, topics=topics, timeout_ms=10_000)
    response.at("responses[0]").expect(error_code="NONE", name=topic, topic_id=topic_id)
    (await _gone(broker, topic)).at("topics[0]").expect(error_code="UNKNOWN_TOPIC_OR_PARTITION")


@check(
    "topics/recreate",
    "KIP-516",
    needs={"DeleteTopics": 0, "Produce": 3, "Fetch": 4, "CreateTopics": 0},
)
async def recreate(broker: Broker) -> None:
    """A topic that is deleted and created again is empty, and its offsets start at 0.

    Brokers with ZooKeeper delete topics in the background: their names are free some time later.
    """
    topic = await broker.topic()
    await produced(broker, topic, "a", "b")
    (await delete_topics(broker, topic)).at("responses[0]").expect(error_code="NONE")
    await _gone(broker, topic)
    deadline = await Now() + 5
    while True:
        created = (await create_topics(broker, {"name": topic})).at("topics[0]")
        if created["error_code"] != "TOPIC_ALREADY_EXISTS" or await Now() > deadline:
            break
        await Sleep(0.1)
    created.expect(error_code="NONE")
    await broker.wait_served(topic)
    (await fetch(broker, topic, 0, max_wait_ms=0)).expect(error_code="NONE", high_watermark=0)
    if await produced(broker, topic, "c") != 0:
        raise (await fetch(broker, topic, 0)).failed(
            "", "offset 0 for the first record", "another offset"
        )


@check("topics/partitions-grow", "KIP-195", needs={"CreatePartitions": 0, "CreateTopics": 0})
async def partitions_grow(broker: Broker) -> None:
    """CreatePartitions adds partitions, and Metadata lists them."""
    topic = await broker.topic()
    (await grow(broker, topic, 3)).expect(error_code="NONE")
    deadline = await Now() + 5
    while True:
        response = await broker.metadata(topic)
        count = len(response["topics[0].partitions"])
        if count == 3:
            return
        if await Now() > deadline:
            raise response.failed("topics[0].partitions", "3 partitions", f"{count}")
        await Sleep(0.05)


@check("topics/partitions-shrink", "KIP-195", needs={"CreatePartitions": 0, "CreateTopics": 0})
async def partitions_shrink(broker: Broker) -> None:
    """A smaller count, or the same one, gets INVALID_PARTITIONS."""
    topic = await broker.topic(partitions=3)
    for count in (2, 3):
        (await grow(broker, topic, count)).expect(error_code="INVALID_PARTITIONS")


@check("topics/partitions-unknown", "KIP-195", needs={"CreatePartitions": 0})
async def partitions_unknown(broker: Broker) -> None:
    """Adding partitions to an unknown topic gets UNKNOWN_TOPIC_OR_PARTITION."""
    part = await grow(broker, broker.name("topic"), 2)
    part.expect(error_code="UNKNOWN_TOPIC_OR_PARTITION")


@check("topics/elect-unneeded", "KIP-460", needs={"ElectLeaders": 0, "CreateTopics": 0})
async def elect_unneeded(broker: Broker) -> None:
    """Electing the preferred leader of a partition that it leads gets ELECTION_NOT_NEEDED."""
    topic = await broker.topic()
    response = await broker.send(
        "ElectLeaders",
        election_type=0,
        topic_partitions=[{"topic": topic, "partitions": [0]}],
        timeout_ms=10_000,
    )
    part = response.at("replica_election_results[0].partition_result[0]")
    part.expect(error_code=OneOf("ELECTION_NOT_NEEDED", "NONE"))


@check(
    "topics/reassignments-none",
    "KIP-455",
    needs={"ListPartitionReassignments": 0, "CreateTopics": 0},
)
async def reassignments_none(broker: Broker) -> None:
    """A topic whose partitions are not being reassigned has no reassignment."""
    topic = await broker.topic()
    response = await broker.send(
        "ListPartitionReassignments",
        topics=[{"name": topic, "partition_indexes": [0]}],
        timeout_ms=10_000,
    )
    response.expect(error_code="NONE", topics=[])


CHECKS: Final[tuple[Check, ...]] = (
    create_exists,
    create_zero_partitions,
    create_default_partitions,
    create_too_many_replicas,
    create_invalid_name,
    create_colliding_name,
    create_invalid_config,
    create_unknown_config,
    create_validate_only,
    create_twice_in_request,
    create_count_and_assignments,
    create_assignments,
    create_id,
    create_configs,
    delete,
    delete_unknown,
    delete_by_id,
    recreate,
    partitions_grow,
    partitions_shrink,
    partitions_unknown,
    elect_unneeded,
    reassignments_none,
)
