"""Removes what checks created."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from barnabas.conform.connection import Connection, Versions
from barnabas.conform.login import Login, no_login
from barnabas.conform.operations import Open

NAMED: Final = 5
"""The newest version of DeleteTopics in which topics are a list of names."""


async def delete(
    created: Sequence[tuple[str, str]], versions: Versions, login: Login = no_login
) -> None:
    """Delete topics and groups, whatever the broker answers: some do not exist any more.

    Args:
        created: kind ("topic", "group", ...) and name of each.
        versions: what the broker offers.
        login: authenticates the connection.
    """
    connection = Connection(await Open(), versions)
    await login(connection)
    topics = [name for kind, name in created if kind == "topic"]
    groups = [name for kind, name in created if kind == "group"]
    if topics and "DeleteTopics" in versions:
        version = min(connection.version("DeleteTopics"), NAMED)
        await connection.send("DeleteTopics", version, topic_names=topics, timeout_ms=10_000)
    if groups and "DeleteGroups" in versions:
        await connection.send("DeleteGroups", groups_names=groups)
    await connection.close()
