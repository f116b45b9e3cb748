"""Removes what checks created."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from barnabas.conform.acls import acl_filter
from barnabas.conform.broker import Broker
from barnabas.conform.connection import Connection, Versions
from barnabas.conform.consumer_members import LEAVE
from barnabas.conform.groups import leave
from barnabas.conform.login import Login, no_login
from barnabas.conform.operations import Now, Steps
from barnabas.conform.users import NUMBERS
from barnabas.conform.verdicts import Failed, Skipped

NAMED: Final = 5
"""The newest version of DeleteTopics in which topics are a list of names."""

CLIENT_METRICS: Final = 16
"""The type of resource whose configs subscribe to metrics of clients (KIP-714)."""

METRICS_CONFIGS: Final = ("metrics", "interval.ms", "match")
DELETE: Final = 1
"""The operation that deletes a config."""

CLEANUP_S: Final = 30.0
"""After this time, the rest is not deleted."""


async def delete(
    created: Sequence[tuple[str, str]], versions: Versions, login: Login = no_login
) -> None:
    """Delete what checks created, whatever the broker answers: some of it does not exist any more.

    Args:
        created: kind ("topic", "group", "user", "client", "client-metrics", ...) and name of each.
        versions: what the broker offers.
        login: authenticates the connection.
    """
    broker = Broker(versions, "", login)
    broker.main = await broker.connect()

    def names(kind: str) -> list[str]:
        return [name for each, name in created if each == kind]

    def deletions() -> Iterator[Steps[None]]:
        """Yield the deletions one by one: a coroutine that is made must be awaited."""
        users = names("user")
        yield _delete_topics(broker, names("topic"))
        for group in names("group"):
            yield _delete_group(broker, group)
        yield _delete_credentials(broker, users)
        yield _delete_acls(broker, users)
        yield _delete_quotas(broker, {*users, *names("client")})
        yield _delete_configs(broker, names("client-metrics"))

    deadline = await Now() + CLEANUP_S
    for deletion in deletions():
        with contextlib.suppress(Failed, Skipped):
            await deletion
        if await Now() > deadline:
            break
    await broker.main.close()


async def _delete_topics(broker: Broker, topics: Sequence[str]) -> None:
    """Delete topics."""
    if topics:
        version = min(broker.version("DeleteTopics"), NAMED)
        await broker.send("DeleteTopics", version, topic_names=topics, timeout_ms=10_000)


async def _delete_credentials(broker: Broker, users: Sequence[str]) -> None:
    """Delete the SCRAM credentials of users; a request may name a user only once."""
    for mechanism in NUMBERS.values() if users else ():
        deletions = [{"name": user, "mechanism": mechanism} for user in users]
        await broker.send("AlterUserScramCredentials", deletions=deletions, upsertions=[])


async def _delete_acls(broker: Broker, users: Sequence[str]) -> None:
    """Delete the ACLs of users."""
    if users:
        filters = [acl_filter(f"User:{user}") for user in users]
        await broker.send("DeleteAcls", filters=filters)


async def _delete_quotas(broker: Broker, names: Collection[str]) -> None:
    """Remove the quotas of users and client ids, alone or together."""
    if not names:
        return
    response = await broker.send("DescribeClientQuotas", components=[], strict=False)
    entries = [
        {
            "entity": entry["entity"],
            "ops": [{"key": row["key"], "remove": True} for row in entry["values"]],
        }
        for entry in response["entries"] or ()
        if any(part["entity_name"] in names for part in entry["entity"])
    ]
    if entries:
        await broker.send("AlterClientQuotas", entries=entries, validate_only=False)


async def _delete_configs(broker: Broker, names: Sequence[str]) -> None:
    """Delete the configs of subscriptions to metrics of clients."""
    if not names:
        return
    resources = [
        {
            "resource_type": CLIENT_METRICS,
            "resource_name": name,
            "configs": [{"name": key, "config_operation": DELETE} for key in METRICS_CONFIGS],
        }
        for name in names
    ]
    await broker.send("IncrementalAlterConfigs", resources=resources, validate_only=False)


async def _delete_group(broker: Broker, group: str) -> None:
    """Let a group's members leave, and delete it."""
    if "DeleteGroups" in broker.versions:
        connection = await broker.coordinator(group)
        await _remove_members(connection, group)
        await connection.send("DeleteGroups", groups_names=[group])


async def _remove_members(connection: Connection, group: str) -> None:
    versions = connection.versions
    if "DescribeGroups" in versions and "LeaveGroup" in versions:
        response = await connection.send("DescribeGroups", groups=[group])
        for member in response["groups[0].members"]:
            await leave(connection, group, member["member_id"], member.get("group_instance_id"))
    if "ConsumerGroupDescribe" in versions:
        response = await connection.send("ConsumerGroupDescribe", group_ids=[group])
        for member in response["groups[0].members"]:
            fields = {"group_id": group, "member_id": member["member_id"], "member_epoch": LEAVE}
            await connection.send("ConsumerGroupHeartbeat", **fields)
    if "StreamsGroupDescribe" in versions:
        response = await connection.send("StreamsGroupDescribe", group_ids=[group])
        for member in response["groups[0].members"]:
            fields = {"group_id": group, "member_id": member["member_id"], "member_epoch": LEAVE}
            await connection.send("StreamsGroupHeartbeat", **fields)
