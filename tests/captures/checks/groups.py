"""Make exchanges of groups: classic groups, and groups with group heartbeats."""

from __future__ import annotations

from typing import Any

from barnabas.captures.kafka.exchange import Exchange
from tests.captures.checks.given import exchange

GROUP_HEARTBEATS = ("ConsumerGroupHeartbeat", "ShareGroupHeartbeat", "StreamsGroupHeartbeat")


def join(
    at: float,
    member: str = "m",
    generation: int = 1,
    *,
    version: int = 2,
    asked: str = "",
    leader: str = "m",
    members: tuple[str, ...] = (),
    instances: dict[str, str] | None = None,
    error: int = 0,
    **more: Any,
) -> Exchange:
    """Make a JoinGroup of a member with the id `asked`; `members` are the members that the leader gets.

    instances: the instance ids of static members. `group`, `session`, `rebalance` (ms) and `reason` go into
    the request.
    """
    static = instances or {}
    request = {
        "group_id": more.pop("group", "g"),
        "session_timeout_ms": more.pop("session", 9000),
        "rebalance_timeout_ms": more.pop("rebalance", 60_000),
        "member_id": asked,
        "protocol_type": "consumer",
        "protocols": [],
    }
    if version >= 8:
        request |= {"group_instance_id": static.get(member), "reason": more.pop("reason", None)}
    reported: list[dict[str, Any]] = [{"member_id": member, "metadata": b""} for member in members]
    if version >= 5:
        reported = [one | {"group_instance_id": static.get(one["member_id"])} for one in reported]
    response = {
        "error_code": error,
        "generation_id": generation,
        "protocol_name": "range",
        "leader": leader,
        "member_id": member,
        "members": reported,
    }
    return exchange("JoinGroup", version, request, response, at=at, **more)


def sync(
    at: float,
    member: str = "m",
    generation: int = 1,
    *,
    error: int = 0,
    assigns: tuple[str, ...] = (),
    **more: Any,
) -> Exchange:
    """Make a SyncGroup; `assigns` are the members to which a leader assigns partitions."""
    assignments = [{"member_id": name, "assignment": b""} for name in assigns]
    requested = {"group_id": "g", "generation_id": generation, "member_id": member}
    answer = {"error_code": error, "assignment": b""}
    return exchange("SyncGroup", 1, requested | {"assignments": assignments}, answer, at=at, **more)


def heartbeat(
    at: float, member: str = "m", generation: int = 1, *, error: int | None = 0, **more: Any
) -> Exchange:
    """Make a Heartbeat; error None: no response."""
    requested = {"group_id": "g", "generation_id": generation, "member_id": member}
    answer = None if error is None else {"error_code": error}
    return exchange("Heartbeat", 1, requested, answer, at=at, **more)


def commit(
    at: float,
    member: str = "m",
    generation: int = 1,
    *,
    error: int = 0,
    offset: int = 7,
    **more: Any,
) -> Exchange:
    """Make an OffsetCommit of one partition."""
    requested = {
        "group_id": "g",
        "generation_id_or_member_epoch": generation,
        "member_id": member,
        "topics": [{"name": "orders", "partitions": [_position(offset)]}],
    }
    return exchange("OffsetCommit", 2, requested, _committed(error), at=at, **more)


def leave(at: float, member: str = "m", *, error: int = 0, **more: Any) -> Exchange:
    """Make a LeaveGroup."""
    requested = {"group_id": "g", "member_id": member}
    return exchange("LeaveGroup", 1, requested, {"error_code": error}, at=at, **more)


def transact(
    at: float,
    generation: int | None = 1,
    *,
    member: str = "m",
    error: int = 0,
    offset: int = 7,
    **more: Any,
) -> Exchange:
    """Make a TxnOffsetCommit of one partition; generation None: v2, which has no generation."""
    requested: dict[str, Any] = {
        "transactional_id": "t",
        "group_id": "g",
        "producer_id": 1,
        "producer_epoch": 0,
        "topics": [{"name": "orders", "partitions": [_position(offset)]}],
    }
    if generation is not None:
        requested |= {"generation_id_or_member_epoch": generation, "member_id": member}
    version = 2 if generation is None else 3
    return exchange("TxnOffsetCommit", version, requested, _committed(error), at=at, **more)


def _position(offset: int) -> dict[str, Any]:
    return {"partition_index": 0, "committed_offset": offset, "committed_metadata": ""}


def _committed(error: int) -> dict[str, Any]:
    return {"topics": [{"name": "orders", "partitions": [{"error_code": error}]}]}


def group_heartbeat(
    at: float,
    epoch: int,
    given: int,
    *,
    name: str = GROUP_HEARTBEATS[0],
    member: str = "m",
    asked: str | None = None,
    error: int = 0,
    owns: bool = False,
    assigned: bool = False,
    **more: Any,
) -> Exchange:
    """Make a heartbeat of a group with epochs, every 5 s; asked: the member id in the request, if it differs.

    owns: the request lists owned partitions. assigned: the response has an assignment.
    """
    request: dict[str, Any] = {"group_id": "g", "member_id": member if asked is None else asked}
    request["member_epoch"] = epoch
    answer: dict[str, Any] = {
        "member_id": member,
        "member_epoch": given,
        "error_code": error,
        "heartbeat_interval_ms": 5000,
    }
    if owns:
        request["topic_partitions"] = []
    if assigned:
        answer["assignment"] = {"topic_partitions": []}
    return exchange(name, 0, request, answer, at=at, **more)
