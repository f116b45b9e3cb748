"""Groups: members, generations, assignments."""

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
"""How Java's client begins the reason of a newcomer's second JoinGroup, which is none (KIP-394)."""


def join_group(request: Body, response: Body, names: Names) -> str:
    """JoinGroup: group, member, generation, protocol, who leads, and why the member joins."""
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
    why = request.get("reason") or ""
    return joined(*words, _reasons("" if why.startswith(GIVEN_ID) else why))


def _reasons(*reasons: str | None) -> str:
    """Why members come and go, in their own words (KIP-800); each once."""
    said = listed(dict.fromkeys(why for why in reasons if why), "reason")
    return f"({said})" if said else ""


def generation(request: Body, response: Body, names: Names) -> str:
    """Heartbeat: group, generation, member."""
    if not request:
        return ""
    generation = f"generation {request['generation_id']}"
    return joined(request["group_id"], generation, member_name(request["member_id"]))


def sync_group(request: Body, response: Body, names: Names) -> str:
    """SyncGroup: group, generation, member, what it is assigned."""
    assigned = ""
    if response.get("assignment"):
        assigned = _assignment(response["assignment"], names)
    leads = len(request.get("assignments") or ())
    who = generation(request, response, names)
    return arrow(joined(who, f"leads {leads}" if leads else ""), assigned)


def _assignment(data: bytes, names: Names) -> str:
    """Partitions, if these bytes are a consumer's; other kinds of groups have other layouts."""
    try:
        found = read_member("consumer", "assignment", data)
    except Malformed:
        return size(len(data))
    if found.oddities:
        return size(len(data))
    topics = found.values["assigned_partitions"]
    return partitions_of(topics, "partitions", names, ranges) or "nothing"


def leave_group(request: Body, response: Body, names: Names) -> str:
    """LeaveGroup: group and members, and why they leave."""
    members = request.get("members")
    if members is None:
        members = [request] if request else []
    named = (m.get("group_instance_id") or member_name(m["member_id"]) for m in members)
    why = _reasons(*(member.get("reason") for member in members))
    return joined(request.get("group_id", ""), listed(named, "member"), why)


def describe_groups(request: Body, response: Body, names: Names) -> str:
    """DescribeGroups: groups and their states."""
    if "groups" in response:
        told = (f"{g['group_id']} ({g['group_state'] or '?'})" for g in response["groups"])
        return listed(told, "group")
    return listed(request.get("groups") or (), "group")


def list_groups(request: Body, response: Body, names: Names) -> str:
    """ListGroups: how many."""
    return f"→ {plural(len(response['groups']), 'group')}" if "groups" in response else ""


def group_heartbeat(request: Body, response: Body, names: Names) -> str:
    """ConsumerGroupHeartbeat, ShareGroupHeartbeat: group, epoch, member, new assignment."""
    assigned = response.get("assignment")
    if not assigned:
        return _heartbeat(request, response)
    where = partitions_of(assigned["topic_partitions"], "partitions", names, ranges)
    return arrow(_heartbeat(request, response), where or "nothing")


def streams_heartbeat(request: Body, response: Body, names: Names) -> str:
    """StreamsGroupHeartbeat: group, epoch, member, new active tasks by subtopology."""
    tasks = response.get("active_tasks")
    if tasks is None:
        return _heartbeat(request, response)
    where = listed((f"{t['subtopology_id']}[{ranges(t['partitions'])}]" for t in tasks), "task")
    return arrow(_heartbeat(request, response), where or "nothing")


def _heartbeat(request: Body, response: Body) -> str:
    asked = request.get("member_epoch", 1)
    does = f"epoch {response.get('member_epoch', asked)}"
    if asked <= 0:
        does = "leaves" if asked else f"joins, {does}"
    member = response.get("member_id") or request.get("member_id")
    return joined(request.get("group_id", ""), does, member_name(member))
