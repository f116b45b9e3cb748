"""What a consumer's requests say, and what it takes of the responses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from barnabas.designs.consumer_rewrite.peers.settings import ConsumerSettings
from barnabas.designs.consumer_rewrite.peers.strategies import Partition

Body = dict[str, Any]


def join(settings: ConsumerSettings, topics: Iterable[str], consumer_id: str) -> Body:
    """JoinGroup."""
    return {
        "group_id": settings.group_id,
        "session_timeout": settings.session_timeout_ms,
        "topics": sorted(topics),
        "consumer_id": consumer_id if settings.sends_consumer_id else "",
        "partition_assignment_strategy": settings.strategy,
    }


def assigned(response: Body) -> tuple[Partition, ...]:
    """What a JoinGroup's response gives."""
    return tuple(
        (topic["topic"], number)
        for topic in response["assigned_partitions"]
        for number in topic["partitions"]
    )


def member(settings: ConsumerSettings, generation: int, consumer_id: str) -> Body:
    """Who asks: all of a Heartbeat, and the beginning of an OffsetCommit."""
    return {
        "group_id": settings.group_id,
        "group_generation_id": generation,
        "consumer_id": consumer_id,
    }


def commit(offsets: Mapping[Partition, int], now: int) -> Body:
    """The topics of an OffsetCommit."""
    topics = defaultdict(list)
    for (topic, number), offset in sorted(offsets.items()):
        row = {"partition": number, "offset": offset, "timestamp": now, "metadata": ""}
        topics[topic].append(row)
    return {"topics": [{"topic": topic, "partitions": rows} for topic, rows in topics.items()]}


def committed(response: Body) -> dict[Partition, int]:
    """The error codes of an OffsetCommit's response."""
    return {
        (topic["topic"], one["partition"]): one["error_code"]
        for topic in response["responses"]
        for one in topic["partition_responses"]
    }


def fetch_offsets(group_id: str, partitions: Iterable[Partition]) -> Body:
    """OffsetFetch."""
    topics = defaultdict(list)
    for topic, number in partitions:
        topics[topic].append(number)
    rows = [{"name": topic, "partition_indexes": numbers} for topic, numbers in topics.items()]
    return {"group_id": group_id, "topics": rows}


def fetched_offsets(response: Body) -> dict[Partition, tuple[int, int]]:
    """The offsets of an OffsetFetch's response, each with its error code."""
    return {
        (topic["name"], one["partition_index"]): (one["committed_offset"], one["error_code"])
        for topic in response["topics"]
        for one in topic["partitions"]
    }
