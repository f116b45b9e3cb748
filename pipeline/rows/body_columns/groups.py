"""Columns of group APIs, classic and with group heartbeats: members, generations, assignments."""

from __future__ import annotations

from barnabas.pipeline.rows.body_columns.topics import Body, Names, partition_rows
from barnabas.specs.embedded import read_member
from barnabas.specs.malformed import Malformed


def join_group(request: Body, response: Body, names: Names) -> Body:
    """Return the columns of JoinGroup: the new member's id, and the generation."""
    generation = response.get("generation_id", -1)
    return {
        "member": response.get("member_id") or request.get("member_id"),
        "generation": generation if generation >= 0 else None,
    }


def sync_group(request: Body, response: Body, names: Names) -> Body:
    """Return the columns of SyncGroup: a consumer's assignment; other kinds of groups have other layouts."""
    return classic(request, response, names) | {
        "partitions": _assigned(response.get("assignment") or b"", names)
    }


def _assigned(data: bytes, names: Names) -> list[Body]:
    if not data:
        return []
    try:
        assignment = read_member("consumer", "assignment", data)
    except Malformed:
        return []
    if assignment.oddities:
        return []
    return list(partition_rows(assignment.values["assigned_partitions"], "partitions", names))


def classic(request: Body, response: Body, names: Names) -> Body:
    """Return the columns of Heartbeat: a member and its generation."""
    return {"member": request.get("member_id"), "generation": request.get("generation_id")}


def leave_group(request: Body, response: Body, names: Names) -> Body:
    """Return the columns of LeaveGroup: the member, or null if there are several."""
    members = request.get("members")
    if members is None:
        return {"member": request.get("member_id")}
    return {"member": members[0]["member_id"] if len(members) == 1 else None}


def group_heartbeat(request: Body, response: Body, names: Names) -> Body:
    """Return the columns of ConsumerGroupHeartbeat and ShareGroupHeartbeat.

    They are the member's epoch, and its new assignment.
    """
    assigned = response.get("assignment") or {}
    return streams_heartbeat(request, response, names) | {
        "partitions": list(partition_rows(assigned.get("topic_partitions"), "partitions", names))
    }


def streams_heartbeat(request: Body, response: Body, names: Names) -> Body:
    """Return the columns of StreamsGroupHeartbeat: the member and its epoch; tasks are not partitions."""
    return {
        "member": response.get("member_id") or request.get("member_id"),
        "generation": request.get("member_epoch"),
    }
