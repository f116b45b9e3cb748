"""Groups of one member: the classic protocol, and the heartbeats of KIP-848 and of share groups (KIP-932)."""

from __future__ import annotations

from typing import Any, Final

from barnabas.fuzz.bench_broker.cluster import Cluster, Group
from barnabas.fuzz.bench_broker.responses.request import Request

_ILLEGAL_GENERATION: Final = 22
_UNKNOWN_MEMBER_ID: Final = 25


def join_group(cluster: Cluster, request: Request) -> dict[str, Any]:
    """Start a generation of this member alone; an earlier member is removed.

    A member need not request an id first (KIP-394): the first response is the one under test.
    """
    body = request.body
    member, instance = body["member_id"] or cluster.new_member(), body.get("group_instance_id")
    group = cluster.group(body["group_id"])
    group.member = member
    group.generation += 1
    group.protocol_type = body["protocol_type"]
    protocols = body["protocols"]
    group.protocol = protocols[0]["name"] if protocols else ""
    metadata = protocols[0]["metadata"] if protocols else b""
    return {
        "generation_id": group.generation,
        "protocol_type": group.protocol_type,
        "protocol_name": group.protocol,
        "leader": member,
        "member_id": member,
        "members": [{"member_id": member, "group_instance_id": instance, "metadata": metadata}],
    }


def sync_group(cluster: Cluster, request: Request) -> dict[str, Any]:
    """Return what the leader, which is this member, assigned to itself."""
    group, error = _known(cluster, request)
    assignments = [
        assigned["assignment"]
        for assigned in request.body["assignments"]
        if assigned["member_id"] == request.body["member_id"]
    ]
    return {
        "error_code": error,
        "protocol_type": group.protocol_type,
        "protocol_name": group.protocol,
        "assignment": assignments[0] if assignments and not error else b"",
    }


def heartbeat(cluster: Cluster, request: Request) -> dict[str, Any]:
    """Return an error if the member or generation is unknown."""
    return {"error_code": _known(cluster, request)[1]}


def leave_group(cluster: Cluster, request: Request) -> dict[str, Any]:
    """Remove the member; several members at once since v3."""
    group = cluster.group(request.body["group_id"])
    members = request.body.get("members", ())
    leaving = [member["member_id"] for member in members] or [request.body.get("member_id", "")]
    if group.member in leaving:
        group.member = ""
    named = [{key: member[key] for key in ("member_id", "group_instance_id")} for member in members]
    return {"members": [{**member, "error_code": 0} for member in named]}


def _known(cluster: Cluster, request: Request) -> tuple[Group, int]:
    group = cluster.group(request.body["group_id"])
    if group.member != request.body["member_id"]:
        return group, _UNKNOWN_MEMBER_ID
    right = group.generation == request.body["generation_id"]
    return group, 0 if right else _ILLEGAL_GENERATION


_INTERVAL: Final = 3000
"""Milliseconds between heartbeats, Kafka's default."""


def group_heartbeat(cluster: Cluster, request: Request) -> dict[str, Any]:
    """Join with epoch 0, leave with -1 or -2; the assignment is complete at once."""
    group, epoch = cluster.group(request.body["group_id"]), request.body["member_epoch"]
    member = request.body["member_id"] or cluster.new_member()
    if epoch < 0:
        group.member = ""
        return {"member_id": member, "member_epoch": epoch, "heartbeat_interval_ms": _INTERVAL}
    answer: dict[str, Any] = {"member_id": member, "heartbeat_interval_ms": _INTERVAL}
    if epoch == 0:
        group.member = member
        group.generation += 1
        everything = {"topic_id": cluster.topic_id, "partitions": list(range(len(cluster.logs)))}
        answer["assignment"] = {"topic_partitions": [everything]}
    return {**answer, "member_epoch": group.generation}
