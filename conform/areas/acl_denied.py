"""What an authorizer refuses a user without rights."""

from __future__ import annotations

from typing import Final

from barnabas.conform.acls import (
    acl,
    acl_filter,
    becomes,
)
from barnabas.conform.broker import Broker
from barnabas.conform.check import Check, check
from barnabas.conform.logs import batch, expect_log, fetch, produce, produced
from barnabas.conform.strangers import (
    GROUP_DENIED,
    STRANGERS,
    TOPIC_DENIED,
    stranger,
    topic_metadata,
)

KIP: Final = "KIP-11"


@check("acl/denied-metadata", KIP, needs=STRANGERS)
async def denied_metadata(broker: Broker) -> None:
    """Metadata of a topic that a user may not describe gets TOPIC_AUTHORIZATION_FAILED and no partitions."""
    topic = await broker.topic()
    _, connection = await stranger(broker, topic)
    (await topic_metadata(connection, topic)).expect(error_code=TOPIC_DENIED, partitions=[])


@check("acl/denied-unknown-topic", "KafkaApis", needs=STRANGERS)
async def denied_unknown_topic(broker: Broker) -> None:
    """Metadata of an unknown topic gets TOPIC_AUTHORIZATION_FAILED without rights, as if it existed."""
    _, connection = await stranger(broker, await broker.topic())
    response = await topic_metadata(connection, broker.name("topic"))
    response.expect(error_code=TOPIC_DENIED)


@check("acl/metadata-hides", "KafkaApis", needs=STRANGERS)
async def metadata_hides(broker: Broker) -> None:
    """Metadata of all topics leaves out the topics that a user may not describe."""
    topic = await broker.topic()
    _, connection = await stranger(broker, topic)
    response = await connection.send("Metadata", topics=None, allow_auto_topic_creation=False)
    names = [row["name"] for row in response["topics"]]
    if topic in names:
        raise response.failed("topics", f"no {topic}", f"{names}")


@check("acl/denied-produce", KIP, needs={**STRANGERS, "Produce": 3, "Fetch": 4})
async def denied_produce(broker: Broker) -> None:
    """Produce to a topic that a user may not write gets TOPIC_AUTHORIZATION_FAILED and stores nothing."""
    topic = await broker.topic()
    _, connection = await stranger(broker, topic)
    response = await produce(broker, topic, batch("a"), on=connection)
    response.expect(error_code=TOPIC_DENIED)
    await expect_log(broker, topic)


@check("acl/denied-fetch", KIP, needs={**STRANGERS, "Produce": 3, "Fetch": 4})
async def denied_fetch(broker: Broker) -> None:
    """Fetch from a topic that a user may not read gets TOPIC_AUTHORIZATION_FAILED and no records."""
    topic = await broker.topic()
    await produced(broker, topic, "a")
    _, connection = await stranger(broker, topic)
    response = await fetch(broker, topic, 0, on=connection)
    response.expect(error_code=TOPIC_DENIED)
    if response["records"]:
        raise response.failed("records", "no records", f"{len(response['records'])} bytes")


@check("acl/denied-offsets", KIP, needs={**STRANGERS, "ListOffsets": 1})
async def denied_offsets(broker: Broker) -> None:
    """ListOffsets of a topic that a user may not describe gets TOPIC_AUTHORIZATION_FAILED."""
    topic = await broker.topic()
    _, connection = await stranger(broker, topic)
    row = {"partition_index": 0, "timestamp": -1, "current_leader_epoch": -1}
    response = await connection.send(
        "ListOffsets", replica_id=-1, topics=[{"name": topic, "partitions": [row]}]
    )
    response.at("topics[0].partitions[0]").expect(error_code=TOPIC_DENIED)


@check("acl/denied-create-topic", KIP, needs=STRANGERS)
async def denied_create_topic(broker: Broker) -> None:
    """CreateTopics of a user without rights gets TOPIC_AUTHORIZATION_FAILED."""
    _, connection = await stranger(broker, await broker.topic())
    row = {"name": broker.name("topic"), "num_partitions": 1, "replication_factor": 1}
    topics = [{**row, "assignments": [], "configs": []}]
    response = await connection.send("CreateTopics", topics=topics, timeout_ms=10_000)
    response.at("topics[0]").expect(error_code=TOPIC_DENIED)


@check("acl/denied-delete-topic", KIP, needs={**STRANGERS, "DeleteTopics": 0})
async def denied_delete_topic(broker: Broker) -> None:
    """DeleteTopics of a user without rights gets TOPIC_AUTHORIZATION_FAILED, and the topic remains."""
    topic = await broker.topic()
    _, connection = await stranger(broker, topic)
    version = connection.version("DeleteTopics", 0, 5)
    response = await connection.send(
        "DeleteTopics", version, topic_names=[topic], timeout_ms=10_000
    )
    response.at("responses[0]").expect(error_code=TOPIC_DENIED)
    (await broker.metadata(topic)).at("topics[0]").expect(error_code="NONE")


@check("acl/denied-group", KIP, needs={**STRANGERS, "FindCoordinator": 0})
async def denied_group(broker: Broker) -> None:
    """FindCoordinator of a group that a user may not describe gets GROUP_AUTHORIZATION_FAILED."""
    _, connection = await stranger(broker, await broker.topic())
    version = connection.version("FindCoordinator")
    group = broker.name("group")
    response = await connection.send(
        "FindCoordinator", key=group, key_type=0, coordinator_keys=[group]
    )
    part = response.at("coordinators[0]") if version >= 4 else response
    part.expect(error_code=GROUP_DENIED)


@check("acl/denied-commit", KIP, needs={**STRANGERS, "OffsetCommit": 2})
async def denied_commit(broker: Broker) -> None:
    """OffsetCommit of a group that a user may not read gets GROUP_AUTHORIZATION_FAILED."""
    topic = await broker.topic()
    _, connection = await stranger(broker, topic)
    row = {"partition_index": 0, "committed_offset": 1, "committed_metadata": ""}
    response = await connection.send(
        "OffsetCommit",
        connection.version("OffsetCommit", 2, 9),
        group_id=broker.name("group"),
        generation_id_or_member_epoch=-1,
        topics=[{"name": topic, "partitions": [row]}],
    )
    response.at("topics[0].partitions[0]").expect(error_code=GROUP_DENIED)


@check("acl/denied-cluster", KIP, needs=STRANGERS)
async def denied_cluster(broker: Broker) -> None:
    """CreateAcls of a user who may not alter the cluster gets CLUSTER_AUTHORIZATION_FAILED."""
    user, connection = await stranger(broker, await broker.topic())
    response = await connection.send("CreateAcls", creations=[acl(user)])
    response.at("results[0]").expect(error_code="CLUSTER_AUTHORIZATION_FAILED")
    await becomes(broker, acl_filter(user))


@check("acl/denied-describe", KIP, needs=STRANGERS)
async def denied_describe(broker: Broker) -> None:
    """DescribeAcls of a user who may not describe the cluster gets CLUSTER_AUTHORIZATION_FAILED."""
    user, connection = await stranger(broker, await broker.topic())
    response = await connection.send("DescribeAcls", **acl_filter(user))
    response.expect(error_code="CLUSTER_AUTHORIZATION_FAILED")


CHECKS: Final[tuple[Check, ...]] = (
    denied_metadata,
    denied_unknown_topic,
    metadata_hides,
    denied_produce,
    denied_fetch,
    denied_offsets,
    denied_create_topic,
    denied_delete_topic,
    denied_group,
    denied_commit,
    denied_cluster,
    denied_describe,
)
