"""Groups, classic and those with heartbeats of their own: members, generations, assignments."""

from __future__ import annotations

from barnabas.pipeline.rows.body_columns.topics import Body, Names, listed
from barnabas.specs.embedded import read_member
from barnabas.specs.malformed import Malformed


def join_group(request: Body, response: Body, names: Names) -> Body:
    """JoinGroup: a new member is given its id, and all are given the generation."""
    generation = response.get("generation_id", -1)
    return {
        "member": response.get("member_id") or request.get("member_id"),
        "generation": generation if generation >= 0 else None,
    }


def sync_group(request: Body, response: Body, names: Names) -> Body:
    """SyncGroup: what a consumer is assigned; other kinds of groups have other layouts."""
    return classic(request, response, names) | {
        "partitions": _assigned(response.get("assignment") or b"", names)
    }


def _assigned(data: bytes, names: Names) -> list[Body]:
    if not data:
        return []
    try:
        found = read_member("consumer", "assignment", data)
    except Malformed:
        return []
    if found.oddities:
        return []
    return list(listed(found.values["assigned_partitions"], "partitions", names))


def classic(request: Body, response: Body, names: Names) -> Body:
    """Heartbeat: a member and its generation."""
    return {"member": request.get("member_id"), "generation": request.get("generation_id")}


def leave_group(request: Body, response: Body, names: Names) -> Body:
    """LeaveGroup: the member; null if several are named."""
    members = request.get("members")
    if members is None:
        return {"member": request.get("member_id")}
    return {"member": members[0]["member_id"] if len(members) == 1 else None}


def group_heartbeat(request: Body, response: Body, names: Names) -> Body:
    """ConsumerGroupHeartbeat, ShareGroupHeartbeat: the epoch it says, and what it is newly assigned."""
    assigned = response.get("assignment") or {}
    return streams_heartbeat(request, response, names) | {
        "partitions": list(listed(assigned.get("topic_partitions"), "partitions", names))
    }


def streams_heartbeat(request: Body, response: Body, names: Names) -> Body:
    """StreamsGroupHeartbeat: the same; its tasks are not partitions."""
    return {
        "member": response.get("member_id") or request.get("member_id"),
        "generation": request.get("member_epoch"),
    }
