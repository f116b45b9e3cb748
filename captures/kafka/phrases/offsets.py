"""Describe ListOffsets, OffsetCommit and OffsetFetch: offsets by partition."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from barnabas.captures.kafka.wording import (
    WIDTH,
    Body,
    Names,
    joined,
    listed,
    pairs,
    partitions_of,
    ranges,
)
from barnabas.plural import plural

_TIMES: Final = {-1: "latest", -2: "earliest", -3: "max timestamp", -4: "earliest local"}
_TIMES_LATER: Final = {-5: "latest tiered", -6: "earliest pending upload"}


def _time(ts: int) -> str:
    named = (_TIMES | _TIMES_LATER).get(ts)
    if named or not 0 <= ts < 253_402_300_800_000:
        return named or str(ts)
    return datetime.fromtimestamp(ts / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def list_offsets(request: Body, response: Body, names: Names) -> str:
    """Describe a ListOffsets: offsets by partition, and the requested time."""
    requested = [p for topic in request.get("topics") or () for p in topic["partitions"]]
    times = sorted({_time(partition["timestamp"]) for partition in requested})
    if "topics" in response:

        def offset(partition: Body) -> Any:
            old = partition.get("old_style_offsets")
            return partition.get("offset") if old is None else ",".join(map(str, old[:3]))

        offsets = partitions_of(
            response["topics"],
            "partitions",
            names,
            lambda partitions: pairs((p["partition_index"], offset(p)) for p in partitions),
        )
    else:
        offsets = partitions_of(
            request.get("topics"),
            "partitions",
            names,
            lambda partitions: ranges(p["partition_index"] for p in partitions),
        )
    return joined(
        offsets, times[0] if len(times) == 1 else plural(len(times), "time") if times else ""
    )


def _committed(topics: list[Body] | None, names: Names) -> str:
    return partitions_of(
        topics,
        "partitions",
        names,
        lambda partitions: pairs(
            (p["partition_index"], "-" if p["committed_offset"] == -1 else p["committed_offset"])
            for p in partitions
        ),
    )


def offset_commit(request: Body, response: Body, names: Names) -> str:
    """Describe an OffsetCommit or TxnOffsetCommit: group, offsets by partition."""
    return joined(
        request.get("transactional_id", ""),
        request.get("group_id", ""),
        _committed(request.get("topics"), names),
    )


def offset_fetch(request: Body, response: Body, names: Names) -> str:
    """Describe an OffsetFetch: group, offsets by partition; `-` where none is stored."""
    answered = "topics" in response or "groups" in response
    body = response if answered else request
    groups = body.get("groups")
    if groups is None:
        groups = [{"group_id": request.get("group_id", ""), "topics": body.get("topics")}]
    return listed((_positions(group, answered, names) for group in groups), "group", WIDTH - 16)


def _positions(group: Body, answered: bool, names: Names) -> str:
    topics = group["topics"]
    if topics is None:
        offsets = "all topics" if group["group_id"] else ""
    elif answered:
        offsets = _committed(topics, names) or "nothing committed"
    else:
        offsets = partitions_of(topics, "partition_indexes", names, ranges)
    return joined(group["group_id"], offsets)
