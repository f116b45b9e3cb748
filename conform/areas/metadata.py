"""Metadata and DescribeCluster: brokers, topics, partitions, topic ids."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import INFO, MUST, SHOULD, Check, check
from barnabas.conform.expectations import AtLeast, Not, OneOf
from barnabas.conform.operations import NotOwned, Now, Sleep, Unreachable
from barnabas.conform.response import Response
from barnabas.conform.verdicts import Failed, Skipped

NOT_REQUESTED: Final = -(2**31)
"""The authorized operations of a response for which they were not requested (KIP-430)."""


def _names(response: Response) -> list[str]:
    return [row["name"] for row in response["topics"]]


async def _metadata(
    broker: Broker, topics: Sequence[dict[str, Any]] | None, **fields: Any
) -> Response:
    """Request metadata of topics with the newest version."""
    return await broker.send(
        "Metadata", topics=topics, **{"allow_auto_topic_creation": False, **fields}
    )


@check(
    "metadata/null-is-all", "MetadataRequest.json, topics", needs={"Metadata": 1}, each="Metadata"
)
async def null_is_all(broker: Broker) -> None:
    """A request with null topics returns all topics."""
    topic = await broker.topic()
    response = await _metadata(broker, None)
    if topic not in _names(response):
        raise response.failed(
            "topics", f"all topics, with {topic}", f"{len(_names(response))} others"
        )


@check(
    "metadata/empty-is-none", "MetadataRequest.json, topics", needs={"Metadata": 1}, each="Metadata"
)
async def empty_is_none(broker: Broker) -> None:
    """A request with an empty list of topics returns no topic."""
    await broker.topic()
    (await _metadata(broker, [])).expect(topics=[])


@check("metadata/v0-empty-is-all", "MetadataRequest.json, topics")
async def v0_empty_is_all(broker: Broker) -> None:
    """A v0 request with an empty list of topics returns all topics."""
    version = broker.version("Metadata", 0, 0)
    topic = await broker.topic()
    response = await broker.send("Metadata", version, topics=[])
    if topic not in _names(response):
        raise response.failed("topics", f"all topics, with {topic}", f"{_names(response)}")


@check(
    "metadata/unknown-topic",
    "MetadataRequest.json, allow_auto_topic_creation; KIP-361",
    needs={"Metadata": 4},
)
async def unknown_topic(broker: Broker) -> None:
    """An unknown topic gets UNKNOWN_TOPIC_OR_PARTITION and is not created, if the request forbids it."""
    topic = broker.name("topic")
    for _ in range(2):
        (await broker.metadata(topic)).at("topics[0]").expect(
            error_code="UNKNOWN_TOPIC_OR_PARTITION"
        )
    if topic in _names(await _metadata(broker, None)):
        raise Failed("Metadata", f"no topic {topic}", "the topic was created")


@check(
    "metadata/auto-create",
    "KIP-361, auto.create.topics.enable",
    level=SHOULD,
    needs={"Metadata": 4},
)
async def auto_create(broker: Broker) -> None:
    """An unknown topic is created if request and broker allow it, and has a leader soon."""
    topic = broker.name("topic")
    deadline = await Now() + 5
    while True:
        response = await _metadata(broker, [{"name": topic}], allow_auto_topic_creation=True)
        if response["topics[0].error_code"] == "NONE":
            return
        response.at("topics[0]").expect(
            error_code=OneOf("LEADER_NOT_AVAILABLE", "UNKNOWN_TOPIC_OR_PARTITION")
        )
        if await Now() > deadline:
            raise Skipped("the broker does not create topics on first use within 5 s")
        await Sleep(0.1)


@check("metadata/invalid-name", "Topic.validate", level=SHOULD, needs={"Metadata": 4})
async def invalid_name(broker: Broker) -> None:
    """A name with spaces and punctuation gets INVALID_TOPIC_EXCEPTION."""
    (await broker.metadata("bad name!")).at("topics[0]").expect(
        error_code="INVALID_TOPIC_EXCEPTION"
    )


@check("metadata/duplicate-names", "KafkaApis.handleTopicMetadataRequest", level=SHOULD)
async def duplicate_names(broker: Broker) -> None:
    """A topic that is named twice is described, once or twice, without an error."""
    topic = await broker.topic()
    response = await broker.metadata(topic, topic)
    if set(_names(response)) != {topic}:
        raise response.failed("topics", topic, f"{_names(response)}")
    response.at("topics[0]").expect(error_code="NONE")


@check("metadata/by-topic-id", "KIP-516", needs={"Metadata": 12})
async def by_topic_id(broker: Broker) -> None:
    """A request by topic id returns the topic's name."""
    topic = await broker.topic()
    topic_id = await broker.topic_id(topic)
    response = await _metadata(broker, [{"name": None, "topic_id": topic_id}])
    response.at("topics[0]").expect(error_code="NONE", name=topic)


@check("metadata/unknown-topic-id", "KIP-516", needs={"Metadata": 12})
async def unknown_topic_id(broker: Broker) -> None:
    """An unknown topic id gets UNKNOWN_TOPIC_ID."""
    topic_id = uuid.UUID("00000000-0000-4000-8000-00000c0f0123")
    response = await _metadata(broker, [{"name": None, "topic_id": topic_id}])
    response.at("topics[0]").expect(error_code="UNKNOWN_TOPIC_ID")


@check(
    "metadata/controller-is-broker", "MetadataResponse.json, controller_id", needs={"Metadata": 1}
)
async def controller_is_broker(broker: Broker) -> None:
    """The controller is one of the listed brokers."""
    response = await _metadata(broker, [])
    nodes = {row["node_id"] for row in response["brokers"]}
    if response["controller_id"] not in nodes:
        raise response.failed(
            "controller_id", f"one of {sorted(nodes)}", f"{response['controller_id']}"
        )


@check("metadata/cluster-id", "KIP-78, KIP-700", needs={"Metadata": 2, "DescribeCluster": 0})
async def cluster_id(broker: Broker) -> None:
    """Metadata and DescribeCluster return the same cluster id."""
    expected = (await _metadata(broker, []))["cluster_id"]
    (await broker.send("DescribeCluster")).expect(error_code="NONE", cluster_id=expected)


@check("metadata/advertised-reachable", "KIP-103, advertised.listeners")
async def advertised_reachable(broker: Broker) -> None:
    """Each listed broker accepts connections at its advertised address and answers ApiVersions."""
    response = await _metadata(broker, [])
    for index, row in enumerate(response["brokers"]):
        try:
            connection = await broker.connect((row["host"], row["port"]))
        except NotOwned:
            raise
        except Unreachable as problem:
            listed = response.at(f"brokers[{index}]")
            raise listed.failed(
                "port", "an address that accepts connections", str(problem)
            ) from None
        (await connection.send("ApiVersions", 0)).expect(error_code="NONE")
        await connection.close()


@check("metadata/leader-in-replicas", "MetadataResponse.json, replica_nodes, isr_nodes")
async def leader_in_replicas(broker: Broker) -> None:
    """A partition's leader is one of its replicas, and so are the in-sync replicas."""
    topic = await broker.topic(partitions=3)
    response = await broker.metadata(topic)
    for index, row in enumerate(response["topics[0].partitions"]):
        part = response.at(f"topics[0].partitions[{index}]")
        if row["leader_id"] not in row["replica_nodes"]:
            raise part.failed("leader_id", f"one of {row['replica_nodes']}", f"{row['leader_id']}")
        if not set(row["isr_nodes"]) <= set(row["replica_nodes"]):
            raise part.failed("isr_nodes", f"part of {row['replica_nodes']}", f"{row['isr_nodes']}")


@check("metadata/partitions", "MetadataResponse.json, partition_index")
async def partitions(broker: Broker) -> None:
    """Each partition of a topic is listed once, from 0."""
    topic = await broker.topic(partitions=3)
    response = await broker.metadata(topic)
    indexes = sorted(row["partition_index"] for row in response["topics[0].partitions"])
    if indexes != [0, 1, 2]:
        raise response.failed("topics[0].partitions", "partitions 0, 1, 2", f"{indexes}")


@check("metadata/leader-epoch", "KIP-320", needs={"Metadata": 7})
async def leader_epoch(broker: Broker) -> None:
    """A partition with a leader has a leader epoch of at least 0, and the epoch does not decrease."""
    topic = await broker.topic()
    epoch = 0
    for _ in range(3):
        response = await broker.metadata(topic)
        response.at("topics[0].partitions[0]").expect(leader_epoch=AtLeast(epoch))
        epoch = response["topics[0].partitions[0].leader_epoch"]


@check("metadata/authorized-operations", "KIP-430", needs={"Metadata": 8})
async def authorized_operations(broker: Broker) -> None:
    """Authorized operations of topics are returned only if the request includes them."""
    topic = await broker.topic()
    topics = [{"name": topic}]
    without = await _metadata(broker, topics, include_topic_authorized_operations=False)
    without.at("topics[0]").expect(topic_authorized_operations=NOT_REQUESTED)
    including = await _metadata(broker, topics, include_topic_authorized_operations=True)
    including.at("topics[0]").expect(topic_authorized_operations=Not(NOT_REQUESTED))


@check(
    "metadata/internal-topic",
    "KIP-4, TopicConstants.INTERNAL_TOPICS",
    level=SHOULD,
    needs={"Metadata": 1},
)
async def internal_topic(broker: Broker) -> None:
    """The topic __consumer_offsets is marked as internal, and topics without two underscores are not."""
    response = await _metadata(broker, None)
    for index, name in enumerate(_names(response)):
        if name == "__consumer_offsets" or not name.startswith("__"):
            response.at(f"topics[{index}]").expect(is_internal=name.startswith("__"))


@check("metadata/topic-id", "KIP-516", level=MUST, needs={"Metadata": 10})
async def topic_id(broker: Broker) -> None:
    """Each topic has an id of its own, the same in each response."""
    topics = [await broker.topic(), await broker.topic()]
    ids = [await broker.topic_id(topic) for topic in topics]
    response = await broker.metadata(*topics)
    if len({*ids, uuid.UUID(int=0)}) != 3:
        raise response.failed("topics", "two different topic ids", f"{ids}")
    again = [await broker.topic_id(topic) for topic in topics]
    if again != ids:
        raise response.failed("topics", f"topic ids {ids}", f"{again}")


@check("describe-cluster/brokers", "KIP-700", needs={"DescribeCluster": 0})
async def described_brokers(broker: Broker) -> None:
    """DescribeCluster lists the same brokers as Metadata, at the same addresses."""
    metadata = await _metadata(broker, [])
    expected = {row["node_id"]: (row["host"], row["port"]) for row in metadata["brokers"]}
    response = await broker.send("DescribeCluster")
    described = {row["broker_id"]: (row["host"], row["port"]) for row in response["brokers"]}
    if described != expected:
        raise response.failed("brokers", f"{expected}", f"{described}")


@check("describe-cluster/endpoint-type", "KIP-919", level=INFO, needs={"DescribeCluster": 1})
async def endpoint_type(broker: Broker) -> None:
    """An unknown endpoint type gets UNSUPPORTED_ENDPOINT_TYPE."""
    version = broker.version("DescribeCluster", 1)
    response = await broker.send("DescribeCluster", version, endpoint_type=9)
    response.expect(error_code="UNSUPPORTED_ENDPOINT_TYPE")


@check("describe-topic-partitions/cursor", "KIP-966", needs={"DescribeTopicPartitions": 0})
async def cursor(broker: Broker) -> None:
    """A response limit returns a cursor, and the request with the cursor continues there."""
    topic = await broker.topic(partitions=3)
    topics = [{"name": topic}]
    first = await broker.send(
        "DescribeTopicPartitions", topics=topics, response_partition_limit=1, cursor=None
    )
    first.at("next_cursor").expect(topic_name=topic, partition_index=1)
    rest = await broker.send(
        "DescribeTopicPartitions",
        topics=topics,
        response_partition_limit=10,
        cursor=dict(first["next_cursor"]),
    )
    indexes = [row["partition_index"] for row in rest["topics[0].partitions"]]
    if indexes != [1, 2]:
        raise rest.failed("topics[0].partitions", "partitions 1 and 2", f"{indexes}")


@check("describe-topic-partitions/unknown", "KIP-966", needs={"DescribeTopicPartitions": 0})
async def described_unknown(broker: Broker) -> None:
    """An unknown topic gets UNKNOWN_TOPIC_OR_PARTITION."""
    topics = [{"name": broker.name("topic")}]
    response = await broker.send(
        "DescribeTopicPartitions", topics=topics, response_partition_limit=10, cursor=None
    )
    response.at("topics[0]").expect(error_code="UNKNOWN_TOPIC_OR_PARTITION")


CHECKS: Final[tuple[Check, ...]] = (
    null_is_all,
    empty_is_none,
    v0_empty_is_all,
    unknown_topic,
    auto_create,
    invalid_name,
    duplicate_names,
    by_topic_id,
    unknown_topic_id,
    controller_is_broker,
    cluster_id,
    advertised_reachable,
    leader_in_replicas,
    partitions,
    leader_epoch,
    authorized_operations,
    internal_topic,
    topic_id,
    described_brokers,
    endpoint_type,
    cursor,
    described_unknown,
)
