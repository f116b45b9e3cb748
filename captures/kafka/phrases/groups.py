"""Describe exchanges about groups: members, generations, assignments."""

from __future__ import annotations

from typing import Final

from barnabas.captures.kafka.wording import (
    Body,
    Names,
    arrow,
    joined,
    listed,
    member_name,
    partitions_of,
    ranges,
    size,
)
from barnabas.plural import plural
from barnabas.specs.embedded import read_member
from barnabas.specs.malformed import Malformed

GIVEN_ID: Final = "need to re-join with the given member-id"
"""How Java's client begins the reason of a newcomer's second JoinGroup, which is not a reason (KIP-394)."""


def join_group(request: Body, response: Body, names: Names) -> str:
    """Describe a JoinGroup: group, member, generation, protocol, leader, and the member's reason."""
    member = response.get("member_id") or request.get("member_id")
    words = [request.get("group_id", ""), member_name(member) if request or response else ""]
    if response.get("generation_id", -1) >= 0:
        words.append(f"generation {response['generation_id']}")
        words.append(response.get("protocol_name") or "")
        if response["leader"] == response["member_id"]:
            words.append(f"leader of {plural(len(response['members']), 'member')}")
        else:
            words.append("follower")
    else:
        words.append(listed((p["name"] for p in request.get("protocols") or ()), "protocol", 24))
    reason = request.get("reason") or ""
    return joined(*words, _reasons("" if reason.startswith(GIVEN_ID) else reason))


def _reasons(*reasons: str | None) -> str:
    """Format the distinct reasons that members give for joining or leaving (KIP-800)."""
    text = listed(dict.fromkeys(reason for reason in reasons if reason), "reason")
    return f"({text})" if text else ""


def generation(request: Body, response: Body, names: Names) -> str:
    """Describe a Heartbeat: group, generation, member."""
    if not request:
        return ""
    generation = f"generation {request['generation_id']}"
    return joined(request["group_id"], generation, member_name(request["member_id"]))


def sync_group(request: Body, response: Body, names: Names) -> str:
    """Describe a SyncGroup: group, generation, member, and its assignment."""
    assigned = ""
    if response.get("assignment"):
        assigned = _assignment(response["assignment"], names)
    leads = len(request.get("assignments") or ())
    member = generation(request, response, names)
    return arrow(joined(member, f"leads {leads}" if leads else ""), assigned)


def _assignment(data: bytes, names: Names) -> str:
    """Format the partitions of a consumer's assignment; its size if the group has another layout."""
    try:
        decoded = read_member("consumer", "assignment", data)
    except Malformed:
        return size(len(data))
    if decoded.oddities:
        return size(len(data))
    topics = decoded.values["assigned_partitions"]
    return partitions_of(topics, "partitions", names, ranges) or "nothing"


def leave_group(request: Body, response: Body, names: Names) -> str:
    """Describe a LeaveGroup: group, members, and their reasons."""
    members = request.get("members")
    if members is None:
        members = [request] if request else []
    named = (m.get("group_instance_id") or member_name(m["member_id"]) for m in members)
    reasons = _reasons(*(member.get("reason") for member in members))
    return joined(request.get("group_id", ""), listed(named, "member"), reasons)


def describe_groups(request: Body, response: Body, names: Names) -> str:
    """Describe a DescribeGroups: groups and their states."""
    if "groups" in response:
        states = (f"{g['group_id']} ({g['group_state'] or '?'})" for g in response["groups"])
        return listed(states, "group")
    return listed(request.get("groups") or (), "group")


def list_groups(request: Body, response: Body, names: Names) -> str:
    """Describe a ListGroups: the number of groups."""
    return f"→ {plural(len(response['groups']), 'group')}" if "groups" in response else ""


def group_heartbeat(request: Body, response: Body, names: Names) -> str:
    """Describe a ConsumerGroupHeartbeat or ShareGroupHeartbeat: group, epoch, member, new assignment."""
    assigned = response.get("assignment")
    if not assigned:
        return _heartbeat(request, response)
    partitions = partitions_of(assigned["topic_partitions"], "partitions", names, ranges)
    return arrow(_heartbeat(request, response), partitions or "nothing")


def streams_heartbeat(request: Body, response: Body, names: Names) -> str:
    """Describe a StreamsGroupHeartbeat: group, epoch, member, new active tasks by subtopology."""
    tasks = response.get("active_tasks")
    if tasks is None:
        return _heartbeat(request, response)
    partitions = listed(
        (f"{t['subtopology_id']}[{ranges(t['partitions'])}]" for t in tasks), "task"
    )
    return arrow(_heartbeat(request, response), partitions or "nothing")


def _heartbeat(request: Body, response: Body) -> str:
    requested_epoch = request.get("member_epoch", 1)
    action = f"epoch {response.get('member_epoch', requested_epoch)}"
    if requested_epoch <= 0:
        action = "leaves" if requested_epoch else f"joins, {action}"
    member = response.get("member_id") or request.get("member_id")
    return joined(request.get("group_id", ""), action, member_name(member))
