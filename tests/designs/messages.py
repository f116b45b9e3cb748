"""Bodies of the designs' messages that many tests send."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

REGISTER: Final[dict[str, Any]] = {
    "group_id": "g",
    "consumer_id": "c",
    "topic_count": '{"t": 1}',
    "auto_commit": True,
    "auto_offset_reset": "largest",
    "session_timeout_ms": 3_000,
}
"""Central coordination: a consumer of g registers."""

CLUSTER: Final = {"coordinator_id": 1, "brokers_info": [{"id": 1, "host": "h", "port": 1}]}
"""Central coordination: broker 1 coordinates."""


def offset_info(*rows: tuple[str, str, int]) -> dict[str, Any]:
    """Central coordination: partitions of topics with their offsets."""
    return {"offset_info": [{"topic": t, "partition": p, "offset": o} for t, p, o in rows]}


OFFSETS: Final = offset_info(("t", "0-0", 7))

MEMBER: Final = {"group_id": "g", "group_generation_id": 1, "consumer_id": "g-x"}
"""The rewrite: what a consumer says of itself."""

JOIN: Final[dict[str, Any]] = {
    "group_id": "g",
    "session_timeout": 500,
    "topics": ["t"],
    "consumer_id": "",
    "partition_assignment_strategy": "range",
}
"""The rewrite: a new consumer of t joins."""

JOINED: Final[dict[str, Any]] = {
    "error_code": 0,
    "group_generation_id": 1,
    "consumer_id": "g-x",
    "assigned_partitions": [{"topic": "t", "partitions": [0, 1]}],
}
"""The rewrite: it has got both partitions."""

FOUND: Final = {"error_code": 0, "node_id": 1, "host": "h", "port": 1}
"""The rewrite: broker 1 coordinates the group."""


def committed_rows(topic: str, *offsets: int) -> dict[str, Any]:
    """The rewrite: the offsets of partitions 0, 1 and so on of a topic that is committed."""
    rows = [
        {"partition": number, "offset": offset, "timestamp": 0, "metadata": ""}
        for number, offset in enumerate(offsets)
    ]
    return {"topic": topic, "partitions": rows}


REWRITE_REQUESTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "JoinGroup": JOIN,
    "Heartbeat": MEMBER,
    "OffsetCommit": {**MEMBER, "topics": [committed_rows("t", 1)]},
    "OffsetFetch": {"group_id": "g", "topics": [{"name": "t", "partition_indexes": [0]}]},
    "LeaveGroup": {"group_id": "g", "consumer_id": "g-x"},
    "ConsumerMetadata": {"group_id": "g"},
    "Metadata": {"topics": []},
}
