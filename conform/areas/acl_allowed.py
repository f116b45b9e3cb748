"""What ACLs allow a user without other rights."""

from __future__ import annotations

from typing import Any, Final

from barnabas.conform.acls import (
    DENY,
    DESCRIBE,
    GROUP,
    PREFIXED,
    TRANSACTIONAL_ID,
    WRITE,
    acl,
    acl_filter,
)
from barnabas.conform.broker import Broker
from barnabas.conform.check import Check, check
from barnabas.conform.connection import Connection
from barnabas.conform.expectations import Not
from barnabas.conform.logs import batch, fetch, produce
from barnabas.conform.operations import Sleep
from barnabas.conform.strangers import (
    GROUP_DENIED,
    STRANGERS,
    TOPIC_DENIED,
    TRANSACTIONAL_ID_DENIED,
    grant,
    settles,
    stranger,
    topic_metadata,
)

KIP: Final = "KIP-11"

ALLOWED: Final = Not(TOPIC_DENIED)
"""In a cluster the connection need not be one to the leader."""

READS: Final = {**STRANGERS, "Produce": 3, "Fetch": 4}


async def _fetch_is(broker: Broker, topic: str, connection: Connection, expected: Any) -> None:
    """Expect an error code of a Fetch, after a while at the latest."""
    await settles(lambda: fetch(broker, topic, 0, on=connection), expected)


@check("acl/allow", KIP, needs=READS)
async def allow(broker: Broker) -> None:
    """An ACL that allows to read a topic lets a user fetch and describe it, and not produce to it."""
    topic = await broker.topic()
    user, connection = await stranger(broker, topic)
    await grant(broker, user, acl(user, resource_name=topic))
    await _fetch_is(broker, topic, connection, ALLOWED)
    (await topic_metadata(connection, topic)).expect(error_code="NONE")
    response = await produce(broker, topic, batch("a"), on=connection)
    response.expect(error_code=TOPIC_DENIED)


@check("acl/allow-describe", KIP, needs=READS)
async def allow_describe(broker: Broker) -> None:
    """An ACL that allows to describe a topic does not allow to read it."""
    topic = await broker.topic()
    user, connection = await stranger(broker, topic)
    await grant(broker, user, acl(user, resource_name=topic, operation=DESCRIBE))
    await settles(lambda: topic_metadata(connection, topic), "NONE")
    (await fetch(broker, topic, 0, on=connection)).expect(error_code=TOPIC_DENIED)


@check("acl/allow-prefix", "KIP-290", needs={**READS, "CreateAcls": 1, "DescribeAcls": 1})
async def allow_prefix(broker: Broker) -> None:
    """An ACL of a prefix allows to read the topics whose names begin with it."""
    topic = await broker.topic()
    user, connection = await stranger(broker, topic)
    entry = acl(user, resource_name=topic[:-1], resource_pattern_type=PREFIXED)
    await grant(broker, user, entry)
    await _fetch_is(broker, topic, connection, ALLOWED)


@check("acl/deny-wins", KIP, needs=READS)
async def deny_wins(broker: Broker) -> None:
    """An ACL that denies wins over one that allows."""
    topic = await broker.topic()
    user, connection = await stranger(broker, topic)
    entry = acl(user, resource_name=topic)
    await grant(broker, user, entry)
    await _fetch_is(broker, topic, connection, ALLOWED)
    await grant(broker, user, entry, {**entry, "permission_type": DENY})
    await _fetch_is(broker, topic, connection, TOPIC_DENIED)


@check("acl/delete-denies", KIP, needs=READS)
async def delete_denies(broker: Broker) -> None:
    """Without its ACL a user may no longer read a topic."""
    topic = await broker.topic()
    user, connection = await stranger(broker, topic)
    await grant(broker, user, acl(user, resource_name=topic))
    await _fetch_is(broker, topic, connection, ALLOWED)
    response = await broker.send("DeleteAcls", filters=[acl_filter(user)])
    response.at("filter_results[0].matching_acls[0]").expect(error_code="NONE")
    await _fetch_is(broker, topic, connection, TOPIC_DENIED)


@check("acl/allow-host", KIP, needs=READS)
async def allow_host(broker: Broker) -> None:
    """An ACL of another host does not apply."""
    topic = await broker.topic()
    user, connection = await stranger(broker, topic)
    await grant(broker, user, acl(user, resource_name=topic, host="192.0.2.1"))
    await Sleep(0.5)
    (await fetch(broker, topic, 0, on=connection)).expect(error_code=TOPIC_DENIED)


@check("acl/allow-group", KIP, needs={**STRANGERS, "OffsetFetch": 2})
async def allow_group(broker: Broker) -> None:
    """OffsetFetch of a group is refused without rights, and allowed by an ACL to describe the group."""
    topic, group = await broker.topic(), broker.name("group")
    user, connection = await stranger(broker, topic)
    await broker.coordinator(group)
    await _offsets_are(connection, group, GROUP_DENIED)
    entry = acl(user, resource_type=GROUP, resource_name=group, operation=DESCRIBE)
    await grant(broker, user, entry)
    await _offsets_are(connection, group, Not(GROUP_DENIED))


async def _offsets_are(connection: Connection, group: str, expected: Any) -> None:
    """Expect an error code of OffsetFetch, after a while at the latest."""
    version = connection.version("OffsetFetch", 2, 7)
    await settles(
        lambda: connection.send("OffsetFetch", version, group_id=group, topics=None), expected
    )


@check("acl/allow-transactional-id", KIP, needs={**STRANGERS, "InitProducerId": 0})
async def allow_transactional_id(broker: Broker) -> None:
    """InitProducerId of a transactional id is refused without rights, and allowed by an ACL to write."""
    user, connection = await stranger(broker, await broker.topic())
    name = broker.name("transactional-id")
    await _init_is(connection, name, TRANSACTIONAL_ID_DENIED)
    entry = acl(user, resource_type=TRANSACTIONAL_ID, resource_name=name, operation=WRITE)
    await grant(broker, user, entry)
    await broker.coordinator(name, 1)
    await _init_is(connection, name, Not(TRANSACTIONAL_ID_DENIED))


async def _init_is(connection: Connection, transactional_id: str, expected: Any) -> None:
    """Expect an error code of InitProducerId, after a while at the latest."""
    fields = {
        "transactional_id": transactional_id,
        "transaction_timeout_ms": 60_000,
        "producer_id": -1,
        "producer_epoch": -1,
    }
    await settles(lambda: connection.send("InitProducerId", **fields), expected)


CHECKS: Final[tuple[Check, ...]] = (
    allow,
    allow_describe,
    allow_prefix,
    deny_wins,
    delete_denies,
    allow_host,
    allow_group,
    allow_transactional_id,
)
