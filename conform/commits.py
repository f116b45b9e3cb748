"""Common requests of committed offsets, in any version: OffsetCommit, OffsetFetch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from barnabas.conform.broker import Broker
from barnabas.conform.groups import Member
from barnabas.conform.response import Response

COMMITS: Final = {"OffsetCommit": 2, "OffsetFetch": 1}
"""What checks of committed offsets need: older versions keep offsets in ZooKeeper."""

NO_TOPIC_NAMES: Final = 10
"""From this version on both APIs have ids of topics instead of names (KIP-848)."""

SEVERAL_GROUPS: Final = 8
"""From this version on OffsetFetch has a list of groups (KIP-709)."""


def as_member(member: Member) -> dict[str, Any]:
    """Return the fields of an OffsetCommit that name a member of a classic group."""
    return {
        "member_id": member.id,
        "generation_id_or_member_epoch": member.generation,
        "group_instance_id": member.instance_id,
    }


async def topic_name(broker: Broker, topic: str, version: int) -> dict[str, Any]:
    """Return the field that names a topic in a version of OffsetCommit or OffsetFetch."""
    return (
        {"topic_id": await broker.topic_id(topic)} if version >= NO_TOPIC_NAMES else {"name": topic}
    )


async def commit_fields(
    broker: Broker, group: str, topic: str, offsets: Mapping[int, int], version: int, **row: Any
) -> dict[str, Any]:
    """Return the body of an OffsetCommit of partitions of a topic, from outside of the group.

    Args:
        broker: the broker.
        group: the group's id.
        topic: the topic's name.
        offsets: partition -> offset.
        version: the version of OffsetCommit.
        row: other fields of each partition.
    """
    rows = [
        {
            "partition_index": partition,
            "committed_offset": offset,
            "committed_leader_epoch": -1,
            "committed_metadata": "",
            **row,
        }
        for partition, offset in offsets.items()
    ]
    return {
        "group_id": group,
        "generation_id_or_member_epoch": -1,
        "member_id": "",
        "retention_time_ms": -1,
        "topics": [{**await topic_name(broker, topic, version), "partitions": rows}],
    }


async def commit(
    broker: Broker,
    group: str,
    topic: str,
    offsets: int | Mapping[int, int],
    *,
    version: int | None = None,
    member: Mapping[str, Any] | None = None,
    **row: Any,
) -> Response:
    """Commit an offset of partition 0, or offsets by partition. Return the topic's part of the response.

    Args:
        broker: the broker.
        group: the group's id.
        topic: the topic's name.
        offsets: the offset of partition 0, or partition -> offset.
        version: the newest offered, if absent.
        member: fields that name a member of the group, if the commit comes from one.
        row: other fields of each partition.
    """
    chosen = broker.version("OffsetCommit", 2) if version is None else version
    by_partition = {0: offsets} if isinstance(offsets, int) else offsets
    body = await commit_fields(broker, group, topic, by_partition, chosen, **row)
    connection = await broker.coordinator(group)
    response = await connection.send("OffsetCommit", chosen, **{**body, **(member or {})})
    return response.at("topics[0]")


async def fetch_offsets(
    broker: Broker,
    group: str,
    topics: Mapping[str, Sequence[int]] | None,
    *,
    version: int | None = None,
    require_stable: bool = False,
    **fields: Any,
) -> Response:
    """Fetch committed offsets, and return the group's part of the response.

    Args:
        broker: the broker.
        group: the group's id.
        topics: topic -> partitions; None: all that are committed.
        version: the newest offered, if absent.
        require_stable: refuse offsets of open transactions.
        fields: other fields of the group, such as the member's epoch.
    """
    chosen = (
        broker.version("OffsetFetch", 2 if topics is None else 1) if version is None else version
    )
    rows = None
    if topics is not None:
        rows = [
            {**await topic_name(broker, topic, chosen), "partition_indexes": list(partitions)}
            for topic, partitions in topics.items()
        ]
    response = await (await broker.coordinator(group)).send(
        "OffsetFetch",
        chosen,
        group_id=group,
        topics=rows,
        groups=[{"group_id": group, "topics": rows, **fields}],
        require_stable=require_stable,
    )
    return response.at("groups[0]") if chosen >= SEVERAL_GROUPS else response


async def committed(
    broker: Broker, group: str, topic: str, partition: int = 0, **fields: Any
) -> Response:
    """Fetch one partition's committed offset, and return the partition's part of the response."""
    response = await fetch_offsets(broker, group, {topic: [partition]}, **fields)
    return response.at("topics[0].partitions[0]")
