"""Exchanges of classic groups."""

from __future__ import annotations

from typing import Any

from barnabas.captures.kafka.exchange import Exchange
from tests.captures.checks.given import exchange


def join(
    at: float,
    member: str = "m",
    generation: int = 1,
    *,
    leader: str = "m",
    members: tuple[str, ...] = (),
    error: int = 0,
    took: float = 1,
    **more: Any,
) -> Exchange:
    """A JoinGroup; `members` is what the leader is told."""
    asked = {
        "group_id": "g",
        "session_timeout_ms": 9000,
        "rebalance_timeout_ms": 60000,
        "member_id": "",
        "protocol_type": "consumer",
        "protocols": [],
    }
    answer = {
        "throttle_time_ms": 0,
        "error_code": error,
        "generation_id": generation,
        "protocol_name": "range",
        "leader": leader,
        "member_id": member,
        "members": [{"member_id": name, "metadata": b""} for name in members],
    }
    return exchange("JoinGroup", 2, asked, answer, at=at, took=took, **more)


def sync(
    at: float,
    member: str = "m",
    generation: int = 1,
    *,
    error: int = 0,
    assigns: tuple[str, ...] = (),
    **more: Any,
) -> Exchange:
    """A SyncGroup; `assigns` is to whom a leader gives partitions."""
    asked = {
        "group_id": "g",
        "generation_id": generation,
        "member_id": member,
        "assignments": [{"member_id": name, "assignment": b""} for name in assigns],
    }
    answer = {"throttle_time_ms": 0, "error_code": error, "assignment": b""}
    return exchange("SyncGroup", 1, asked, answer, at=at, **more)


def beat(
    at: float, member: str = "m", generation: int = 1, *, error: int | None = 0, **more: Any
) -> Exchange:
    """A Heartbeat."""
    asked = {"group_id": "g", "generation_id": generation, "member_id": member}
    answer = None if error is None else {"throttle_time_ms": 0, "error_code": error}
    return exchange("Heartbeat", 1, asked, answer, at=at, **more)


def commit(
    at: float,
    member: str = "m",
    generation: int = 1,
    *,
    error: int = 0,
    offset: int = 7,
    **more: Any,
) -> Exchange:
    """An OffsetCommit of one partition."""
    asked = {
        "group_id": "g",
        "generation_id_or_member_epoch": generation,
        "member_id": member,
        "retention_time_ms": -1,
        "topics": [
            {
                "name": "orders",
                "partitions": [
                    {"partition_index": 0, "committed_offset": offset, "committed_metadata": ""}
                ],
            }
        ],
    }
    partitions = [{"partition_index": 0, "error_code": error}]
    answer = {"topics": [{"name": "orders", "partitions": partitions}]}
    return exchange("OffsetCommit", 2, asked, answer, at=at, **more)


def leave(at: float, member: str = "m", *, error: int = 0, **more: Any) -> Exchange:
    """A LeaveGroup."""
    asked = {"group_id": "g", "member_id": member}
    answer = {"throttle_time_ms": 0, "error_code": error}
    return exchange("LeaveGroup", 1, asked, answer, at=at, **more)


def transact(
    at: float,
    generation: int | None = 1,
    *,
    member: str = "m",
    error: int = 0,
    offset: int = 7,
    **more: Any,
) -> Exchange:
    """A TxnOffsetCommit of one partition; generation None: of v2, which names none."""
    asked: dict[str, Any] = {
        "transactional_id": "t",
        "group_id": "g",
        "producer_id": 1,
        "producer_epoch": 0,
        "topics": [
            {
                "name": "orders",
                "partitions": [
                    {"partition_index": 0, "committed_offset": offset, "committed_metadata": ""}
                ],
            }
        ],
    }
    if generation is not None:
        asked |= {"generation_id_or_member_epoch": generation, "member_id": member}
    partitions = [{"partition_index": 0, "error_code": error}]
    answer = {"throttle_time_ms": 0, "topics": [{"name": "orders", "partitions": partitions}]}
    version = 2 if generation is None else 3
    return exchange("TxnOffsetCommit", version, asked, answer, at=at, **more)
