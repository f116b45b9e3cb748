"""JoinGroup, SyncGroup, Heartbeat, LeaveGroup: a classic group, whose one member leads it."""

from __future__ import annotations

from typing import Any, Final

from barnabas.fuzz.answering.answers.ask import Ask
from barnabas.fuzz.answering.cluster import Cluster, Group

_ILLEGAL_GENERATION: Final = 22
_UNKNOWN_MEMBER_ID: Final = 25


def join_group(cluster: Cluster, ask: Ask) -> dict[str, Any]:
    """A generation of this member alone; who joined before is out. Nobody has to ask for an id first
    (KIP-394): the first answer is the one that matters."""
    body = ask.body
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


def sync_group(cluster: Cluster, ask: Ask) -> dict[str, Any]:
    """What the leader, who is this member, assigned to itself."""
    group, error = _known(cluster, ask)
    own = [
        one["assignment"]
        for one in ask.body["assignments"]
        if one["member_id"] == ask.body["member_id"]
    ]
    return {
        "error_code": error,
        "protocol_type": group.protocol_type,
        "protocol_name": group.protocol,
        "assignment": own[0] if own and not error else b"",
    }


def heartbeat(cluster: Cluster, ask: Ask) -> dict[str, Any]:
    """All is well, if it is the member."""
    return {"error_code": _known(cluster, ask)[1]}


def leave_group(cluster: Cluster, ask: Ask) -> dict[str, Any]:
    """It is gone; several members at once from v3 on."""
    group = cluster.group(ask.body["group_id"])
    members = ask.body.get("members", ())
    leaving = [one["member_id"] for one in members] or [ask.body.get("member_id", "")]
    if group.member in leaving:
        group.member = ""
    named = [{key: one[key] for key in ("member_id", "group_instance_id")} for one in members]
    return {"members": [{**one, "error_code": 0} for one in named]}


def _known(cluster: Cluster, ask: Ask) -> tuple[Group, int]:
    group = cluster.group(ask.body["group_id"])
    if group.member != ask.body["member_id"]:
        return group, _UNKNOWN_MEMBER_ID
    right = group.generation == ask.body["generation_id"]
    return group, 0 if right else _ILLEGAL_GENERATION
