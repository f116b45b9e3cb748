"""Removes what checks created."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.connection import Connection, Versions
from barnabas.conform.consumer_members import LEAVE
from barnabas.conform.groups import leave
from barnabas.conform.login import Login, no_login
from barnabas.conform.operations import Now
from barnabas.conform.verdicts import Failed, Skipped

NAMED: Final = 5
"""The newest version of DeleteTopics in which topics are a list of names."""

GROUPS_S: Final = 20.0
"""After this time groups are left to expire."""


async def delete(
    created: Sequence[tuple[str, str]], versions: Versions, login: Login = no_login
) -> None:
    """Delete topics and groups, whatever the broker answers: some do not exist any more.

    Args:
        created: kind ("topic", "group", ...) and name of each.
        versions: what the broker offers.
        login: authenticates the connection.
    """
    broker = Broker(versions, "", login)
    broker.main = await broker.connect()
    topics = [name for kind, name in created if kind == "topic"]
    groups = [name for kind, name in created if kind == "group"]
    if topics and "DeleteTopics" in versions:
        version = min(broker.version("DeleteTopics"), NAMED)
        await broker.send("DeleteTopics", version, topic_names=topics, timeout_ms=10_000)
    if "DeleteGroups" in versions:
        deadline = await Now() + GROUPS_S
        for group in groups:
            if await Now() < deadline:
                await _delete_group(broker, group)
    await broker.main.close()


async def _delete_group(broker: Broker, group: str) -> None:
    """Let a group's members leave, and delete it."""
    try:
        connection = await broker.coordinator(group)
        await _remove_members(connection, group)
        await connection.send("DeleteGroups", groups_names=[group])
    except (Failed, Skipped):
        return


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
