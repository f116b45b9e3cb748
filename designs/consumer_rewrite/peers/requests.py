"""Bodies of a consumer's requests, and the values in responses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from barnabas.designs.consumer_rewrite.peers.settings import ConsumerSettings
from barnabas.designs.consumer_rewrite.peers.strategies import Partition
from barnabas.designs.leaders import by_topic

Body = dict[str, Any]


def join(settings: ConsumerSettings, topics: Iterable[str], consumer_id: str) -> Body:
    """Return the body of a JoinGroup request."""
    return {
        "group_id": settings.group_id,
        "session_timeout": settings.session_timeout_ms,
        "topics": sorted(topics),
        "consumer_id": consumer_id if settings.sends_consumer_id else "",
        "partition_assignment_strategy": settings.strategy,
    }


def assigned(response: Body) -> tuple[Partition, ...]:
    """Return the partitions that a JoinGroup response assigns."""
    return tuple(
        (topic["topic"], number)
        for topic in response["assigned_partitions"]
        for number in topic["partitions"]
    )


def commit(offsets: Mapping[Partition, int], now: int) -> Body:
    """Return the topics of an OffsetCommit request."""
    rows = {
        at: {"partition": at[1], "offset": offset, "timestamp": now, "metadata": ""}
        for at, offset in sorted(offsets.items())
    }
    return {
        "topics": [
            {"topic": topic, "partitions": [row for _, row in parts]}
            for topic, parts in by_topic(rows.items())
        ]
    }


def committed(response: Body) -> dict[Partition, int]:
    """Return the error codes of an OffsetCommit response."""
    return {
        (topic["topic"], partition["partition"]): partition["error_code"]
        for topic in response["responses"]
        for partition in topic["partition_responses"]
    }


def fetch_offsets(group_id: str, partitions: Iterable[Partition]) -> Body:
    """Return the body of an OffsetFetch request."""
    topics = [
        {"name": topic, "partition_indexes": [number for number, _ in parts]}
        for topic, parts in by_topic((at, None) for at in partitions)
    ]
    return {"group_id": group_id, "topics": topics}


def fetched_offsets(response: Body) -> dict[Partition, tuple[int, int]]:
    """Return the offsets of an OffsetFetch response, each with its error code."""
    return {
        (topic["name"], partition["partition_index"]): (
            partition["committed_offset"],
            partition["error_code"],
        )
        for topic in response["topics"]
        for partition in topic["partitions"]
    }
