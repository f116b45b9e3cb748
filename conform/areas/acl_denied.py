"""What an authorizer refuses a user without rights, and what ACLs allow."""

from __future__ import annotations

from typing import Any, Final

from barnabas.conform.acls import (
    ACLS,
    DENY,
    DESCRIBE,
    GROUP,
    PREFIXED,
    TRANSACTIONAL_ID,
    WRITE,
    acl,
    acl_filter,
    add,
    becomes,
    principal,
)
from barnabas.conform.broker import Broker
from barnabas.conform.check import Check, check
from barnabas.conform.connection import SETTLE_S, Connection
from barnabas.conform.expectations import Not, matches
from barnabas.conform.logs import batch, expect_log, fetch, produce, produced
from barnabas.conform.operations import Now, Sleep
from barnabas.conform.response import Response
from barnabas.conform.users import USERS, logged_in, new_user
from barnabas.conform.verdicts import Skipped

KIP: Final = "KIP-11"
NEEDS: Final = {**USERS, **ACLS, "Metadata": 1, "CreateTopics": 0}
TOPIC_DENIED: Final = "TOPIC_AUTHORIZATION_FAILED"
ALLOWED: Final = Not(TOPIC_DENIED)
"""In a cluster the connection need not be one to the leader."""

GROUP_DENIED: Final = "GROUP_AUTHORIZATION_FAILED"
TRANSACTIONAL_ID_DENIED: Final = "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"


async def _stranger(broker: Broker, topic: str) -> tuple[str, Connection]:
    """Return the principal and a connection of a new user, who may not even describe a topic.

    Raises:
        Skipped: the broker has no authorizer, or it allows everything without ACLs.
    """
    await principal(broker)
    user = await new_user(broker)
    connection, _ = await logged_in(broker, user)
    if (await _metadata(connection, topic))["error_code"] == "NONE":
        raise Skipped("the authorizer allows what no ACL forbids")
    return f"User:{user.username}", connection


async def _metadata(connection: Connection, topic: str) -> Response:
    response = await connection.send(
        "Metadata", topics=[{"name": topic}], allow_auto_topic_creation=False
    )
    return response.at("topics[0]")


async def _allowed(broker: Broker, user: str, *entries: dict[str, Any]) -> None:
    """Create a user's ACLs, and wait until the broker describes them."""
    await add(broker, *entries)
    await becomes(broker, acl_filter(user), *entries)


async def _fetch_is(broker: Broker, topic: str, connection: Connection, expected: Any) -> None:
    """Expect an error code of a Fetch, after a while at the latest."""
    deadline = await Now() + SETTLE_S
    while True:
        response = await fetch(broker, topic, 0, on=connection)
        if matches(expected, response["error_code"]) or await Now() > deadline:
            response.expect(error_code=expected)
            return
        await Sleep(0.05)


@check("acl/denied-metadata", KIP, needs=NEEDS)
async def denied_metadata(broker: Broker) -> None:
    """Metadata of a topic that a user may not describe gets TOPIC_AUTHORIZATION_FAILED and no partitions."""
    topic = await broker.topic()
    _, connection = await _stranger(broker, topic)
    (await _metadata(connection, topic)).expect(error_code=TOPIC_DENIED, partitions=[])


@check("acl/denied-unknown-topic", "KafkaApis", needs=NEEDS)
async def denied_unknown_topic(broker: Broker) -> None:
    """Metadata of an unknown topic gets TOPIC_AUTHORIZATION_FAILED without rights, as if it existed."""
    _, connection = await _stranger(broker, await broker.topic())
    response = await _metadata(connection, broker.name("topic"))
    response.expect(error_code=TOPIC_DENIED)


@check("acl/metadata-hides", "KafkaApis", needs=NEEDS)
async def metadata_hides(broker: Broker) -> None:
    """Metadata of all topics leaves out the topics that a user may not describe."""
    topic = await broker.topic()
    _, connection = await _stranger(broker, topic)
    response = await connection.send("Metadata", topics=None, allow_auto_topic_creation=False)
    names = [row["name"] for row in response["topics"]]
    if topic in names:
        raise response.failed("topics", f"no {topic}", f"{names}")


@check("acl/denied-produce", KIP, needs={**NEEDS, "Produce": 3, "Fetch": 4})
async def denied_produce(broker: Broker) -> None:
    """Produce to a topic that a user may not write gets TOPIC_AUTHORIZATION_FAILED and stores nothing."""
    topic = await broker.topic()
    _, connection = await _stranger(broker, topic)
    response = await produce(broker, topic, batch("a"), on=connection)
    response.expect(error_code=TOPIC_DENIED)
    await expect_log(broker, topic)


@check("acl/denied-fetch", KIP, needs={**NEEDS, "Produce": 3, "Fetch": 4})
async def denied_fetch(broker: Broker) -> None:
    """Fetch from a topic that a user may not read gets TOPIC_AUTHORIZATION_FAILED and no records."""
    topic = await broker.topic()
    await produced(broker, topic, "a")
    _, connection = await _stranger(broker, topic)
    response = await fetch(broker, topic, 0, on=connection)
    response.expect(error_code=TOPIC_DENIED)
    if response["records"]:
        raise response.failed("records", "no records", f"{len(response['records'])} bytes")


@check("acl/denied-offsets", KIP, needs={**NEEDS, "ListOffsets": 1})
async def denied_offsets(broker: Broker) -> None:
    """ListOffsets of a topic that a user may not describe gets TOPIC_AUTHORIZATION_FAILED."""
    topic = await broker.topic()
    _, connection = await _stranger(broker, topic)
    row = {"partition_index": 0, "timestamp": -1, "current_leader_epoch": -1}
    response = await connection.send(
        "ListOffsets", replica_id=-1, topics=[{"name": topic, "partitions": [row]}]
    )
    response.at("topics[0].partitions[0]").expect(error_code=TOPIC_DENIED)


@check("acl/denied-create-topic", KIP, needs=NEEDS)
async def denied_create_topic(broker: Broker) -> None:
    """CreateTopics of a user without rights gets TOPIC_AUTHORIZATION_FAILED."""
    _, connection = await _stranger(broker, await broker.topic())
    row = {"name": broker.name("topic"), "num_partitions": 1, "replication_factor": 1}
    topics = [{**row, "assignments": [], "configs": []}]
    response = await connection.send("CreateTopics", topics=topics, timeout_ms=10_000)
    response.at("topics[0]").expect(error_code=TOPIC_DENIED)


@check("acl/denied-delete-topic", KIP, needs={**NEEDS, "DeleteTopics": 0})
async def denied_delete_topic(broker: Broker) -> None:
    """DeleteTopics of a user without rights gets TOPIC_AUTHORIZATION_FAILED, and the topic remains."""
    topic = await broker.topic()
    _, connection = await _stranger(broker, topic)
    version = connection.version("DeleteTopics", 0, 5)
    response = await connection.send(
        "DeleteTopics", version, topic_names=[topic], timeout_ms=10_000
    )
    response.at("responses[0]").expect(error_code=TOPIC_DENIED)
    (await broker.metadata(topic)).at("topics[0]").expect(error_code="NONE")


@check("acl/denied-group", KIP, needs={**NEEDS, "FindCoordinator": 0})
async def denied_group(broker: Broker) -> None:
    """FindCoordinator of a group that a user may not describe gets GROUP_AUTHORIZATION_FAILED."""
    _, connection = await _stranger(broker, await broker.topic())
    version = connection.version("FindCoordinator")
    group = broker.name("group")
    response = await connection.send(
        "FindCoordinator", key=group, key_type=0, coordinator_keys=[group]
    )
    part = response.at("coordinators[0]") if version >= 4 else response
    part.expect(error_code=GROUP_DENIED)


@check("acl/denied-commit", KIP, needs={**NEEDS, "OffsetCommit": 2})
async def denied_commit(broker: Broker) -> None:
    """OffsetCommit of a group that a user may not read gets GROUP_AUTHORIZATION_FAILED."""
    topic = await broker.topic()
    _, connection = await _stranger(broker, topic)
    row = {"partition_index": 0, "committed_offset": 1, "committed_metadata": ""}
    response = await connection.send(
        "OffsetCommit",
        connection.version("OffsetCommit", 2, 9),
        group_id=broker.name("group"),
        generation_id_or_member_epoch=-1,
        topics=[{"name": topic, "partitions": [row]}],
    )
    response.at("topics[0].partitions[0]").expect(error_code=GROUP_DENIED)


@check("acl/denied-cluster", KIP, needs=NEEDS)
async def denied_cluster(broker: Broker) -> None:
    """CreateAcls of a user who may not alter the cluster gets CLUSTER_AUTHORIZATION_FAILED."""
    user, connection = await _stranger(broker, await broker.topic())
    response = await connection.send("CreateAcls", creations=[acl(user)])
    response.at("results[0]").expect(error_code="CLUSTER_AUTHORIZATION_FAILED")
    await becomes(broker, acl_filter(user))


@check("acl/denied-describe", KIP, needs=NEEDS)
async def denied_describe(broker: Broker) -> None:
    """DescribeAcls of a user who may not describe the cluster gets CLUSTER_AUTHORIZATION_FAILED."""
    user, connection = await _stranger(broker, await broker.topic())
    response = await connection.send("DescribeAcls", **acl_filter(user))
    response.expect(error_code="CLUSTER_AUTHORIZATION_FAILED")


READS: Final = {**NEEDS, "Produce": 3, "Fetch": 4}


@check("acl/allow", KIP, needs=READS)
async def allow(broker: Broker) -> None:
    """An ACL that allows to read a topic lets a user fetch and describe it, and not produce to it."""
    topic = await broker.topic()
    user, connection = await _stranger(broker, topic)
    await _allowed(broker, user, acl(user, resource_name=topic))
    await _fetch_is(broker, topic, connection, ALLOWED)
    (await _metadata(connection, topic)).expect(error_code="NONE")
    response = await produce(broker, topic, batch("a"), on=connection)
    response.expect(error_code=TOPIC_DENIED)


@check("acl/allow-describe", KIP, needs=READS)
async def allow_describe(broker: Broker) -> None:
    """An ACL that allows to describe a topic does not allow to read it."""
    topic = await broker.topic()
    user, connection = await _stranger(broker, topic)
    await _allowed(broker, user, acl(user, resource_name=topic, operation=DESCRIBE))
    deadline = await Now() + SETTLE_S
    while (await _metadata(connection, topic))["error_code"] != "NONE" and await Now() < deadline:
        await Sleep(0.05)
    (await _metadata(connection, topic)).expect(error_code="NONE")
    (await fetch(broker, topic, 0, on=connection)).expect(error_code=TOPIC_DENIED)


@check("acl/allow-prefix", "KIP-290", needs={**READS, "CreateAcls": 1, "DescribeAcls": 1})
async def allow_prefix(broker: Broker) -> None:
    """An ACL of a prefix allows to read the topics whose names begin with it."""
    topic = await broker.topic()
    user, connection = await _stranger(broker, topic)
    entry = acl(user, resource_name=topic[:-1], resource_pattern_type=PREFIXED)
    await _allowed(broker, user, entry)
    await _fetch_is(broker, topic, connection, ALLOWED)


@check("acl/deny-wins", KIP, needs=READS)
async def deny_wins(broker: Broker) -> None:
    """An ACL that denies wins over one that allows."""
    topic = await broker.topic()
    user, connection = await _stranger(broker, topic)
    entry = acl(user, resource_name=topic)
    await _allowed(broker, user, entry)
    await _fetch_is(broker, topic, connection, ALLOWED)
    await _allowed(broker, user, entry, {**entry, "permission_type": DENY})
    await _fetch_is(broker, topic, connection, TOPIC_DENIED)


@check("acl/delete-denies", KIP, needs=READS)
async def delete_denies(broker: Broker) -> None:
    """Without its ACL a user may no longer read a topic."""
    topic = await broker.topic()
    user, connection = await _stranger(broker, topic)
    await _allowed(broker, user, acl(user, resource_name=topic))
    await _fetch_is(broker, topic, connection, ALLOWED)
    response = await broker.send("DeleteAcls", filters=[acl_filter(user)])
    response.at("filter_results[0].matching_acls[0]").expect(error_code="NONE")
    await _fetch_is(broker, topic, connection, TOPIC_DENIED)


@check("acl/allow-host", KIP, needs=READS)
async def allow_host(broker: Broker) -> None:
    """An ACL of another host does not apply."""
    topic = await broker.topic()
    user, connection = await _stranger(broker, topic)
    await _allowed(broker, user, acl(user, resource_name=topic, host="192.0.2.1"))
    await Sleep(0.5)
    (await fetch(broker, topic, 0, on=connection)).expect(error_code=TOPIC_DENIED)


@check("acl/allow-group", KIP, needs={**NEEDS, "OffsetFetch": 2})
async def allow_group(broker: Broker) -> None:
    """OffsetFetch of a group is refused without rights, and allowed by an ACL to describe the group."""
    topic, group = await broker.topic(), broker.name("group")
    user, connection = await _stranger(broker, topic)
    await broker.coordinator(group)
    await _offsets_are(connection, group, GROUP_DENIED)
    entry = acl(user, resource_type=GROUP, resource_name=group, operation=DESCRIBE)
    await _allowed(broker, user, entry)
    await _offsets_are(connection, group, Not(GROUP_DENIED))


async def _offsets_are(connection: Connection, group: str, expected: Any) -> None:
    """Expect an error code of OffsetFetch, after a while at the latest."""
    version = connection.version("OffsetFetch", 2, 7)
    deadline = await Now() + SETTLE_S
    while True:
        response = await connection.send("OffsetFetch", version, group_id=group, topics=None)
        if matches(expected, response["error_code"]) or await Now() > deadline:
            response.expect(error_code=expected)
            return
        await Sleep(0.05)


@check("acl/allow-transactional-id", KIP, needs={**NEEDS, "InitProducerId": 0})
async def allow_transactional_id(broker: Broker) -> None:
    """InitProducerId of a transactional id is refused without rights, and allowed by an ACL to write."""
    user, connection = await _stranger(broker, await broker.topic())
    name = broker.name("transactional-id")
    await _init_is(connection, name, TRANSACTIONAL_ID_DENIED)
    entry = acl(user, resource_type=TRANSACTIONAL_ID, resource_name=name, operation=WRITE)
    await _allowed(broker, user, entry)
    await broker.coordinator(name, 1)
    await _init_is(connection, name, Not(TRANSACTIONAL_ID_DENIED))


async def _init_is(connection: Connection, transactional_id: str, expected: Any) -> None:
    """Expect an error code of InitProducerId, after a while at the latest."""
    deadline = await Now() + SETTLE_S
    while True:
        response = await connection.send(
            "InitProducerId",
            transactional_id=transactional_id,
            transaction_timeout_ms=60_000,
            producer_id=-1,
            producer_epoch=-1,
        )
        if matches(expected, response["error_code"]) or await Now() > deadline:
            response.expect(error_code=expected)
            return
        await Sleep(0.05)


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
    allow,
    allow_describe,
    allow_prefix,
    deny_wins,
    delete_denies,
    allow_host,
    allow_group,
    allow_transactional_id,
)
