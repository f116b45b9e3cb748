"""Descriptions of the consumer rewrite's messages in log lines."""

from __future__ import annotations

from typing import Final

from barnabas.captures.kafka.wording import (
    Body,
    Names,
    arrow,
    group_name,
    joined,
    listed,
    member_name,
    pairs,
    partitions_of,
    ranges,
)
from barnabas.specs.dialects.dialect import PhraseRow


def consumer_metadata(request: Body, response: Body, names: Names) -> str:
    """Describe a ConsumerMetadata: group and coordinator."""
    node = response.get("node_id", -1)
    group = group_name(request["group_id"]) if request else ""
    return arrow(group, f"coordinator {node}" if node >= 0 else "")


def join_group(request: Body, response: Body, names: Names) -> str:
    """Describe a JoinGroup: group, consumer, topics and strategy; generation and assignment."""
    consumer = response.get("consumer_id") or request.get("consumer_id")
    request_text = joined(
        group_name(request["group_id"]) if request else "",
        _consumer(consumer) if request else "",
        listed(request.get("topics") or (), "topic", 24),
        request.get("partition_assignment_strategy", ""),
    )
    if response.get("group_generation_id", -1) < 0:
        return request_text
    assigned = partitions_of(response["assigned_partitions"], "partitions", names, ranges)
    return arrow(
        request_text, f"generation {response['group_generation_id']} {assigned or 'nothing'}"
    )


def member(request: Body, response: Body, names: Names) -> str:
    """Describe a Heartbeat or LeaveGroup: group, generation, consumer."""
    if not request:
        return ""
    generation = request.get("group_generation_id")
    generation_text = "" if generation is None else f"generation {generation}"
    return joined(
        group_name(request["group_id"]), generation_text, _consumer(request["consumer_id"])
    )


def offset_commit(request: Body, response: Body, names: Names) -> str:
    """Describe an OffsetCommit: group, generation, consumer, and offsets by partition."""
    where = partitions_of(
        request.get("topics"),
        "partitions",
        names,
        lambda topic: pairs((entry["partition"], entry["offset"]) for entry in topic),
    )
    return joined(member(request, response, names), where)


def _consumer(consumer_id: str | None) -> str:
    return member_name(consumer_id).replace("member", "consumer", 1)


_MEMBER: Final = ("group_id", "group_generation_id", "consumer_id")

PHRASES: Final[dict[str, PhraseRow]] = {
    "ConsumerMetadata": (("group_id",), ("node_id",), consumer_metadata),
    "JoinGroup": (
        ("group_id", "topics", "consumer_id", "partition_assignment_strategy"),
        ("group_generation_id", "consumer_id", "assigned_partitions"),
        join_group,
    ),
    "Heartbeat": (_MEMBER, (), member),
    "LeaveGroup": (("group_id", "consumer_id"), (), member),
    "OffsetCommit": ((*_MEMBER, "topics"), (), offset_commit),
}
"""Phrases by API: the needed paths of the request, those of the response, and the function."""
