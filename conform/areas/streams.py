"""Streams groups (KIP-1071): membership, tasks, status, description."""

from __future__ import annotations

from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import Check, check
from barnabas.conform.connection import SETTLE_S
from barnabas.conform.expectations import AtLeast, OneOf
from barnabas.conform.operations import Now, Sleep
from barnabas.conform.response import Response
from barnabas.conform.streams_members import (
    LEAVE,
    POLL_S,
    STREAMS,
    SUBTOPOLOGY,
    StreamsMember,
    new_streams_member,
    topology,
)

KIP: Final = "KIP-1071"
DESCRIBED: Final = {**STREAMS, "StreamsGroupDescribe": 0}

STALE_TOPOLOGY: Final = 0
MISSING_SOURCE_TOPICS: Final = 1
"""Codes of a member's status (StreamsGroupHeartbeatResponse.Status)."""


def _status(response: Response, code: int) -> bool:
    return any(row["status_code"] == code for row in response["status"] or ())


@check("streams/join", KIP, needs=STREAMS)
async def join(broker: Broker) -> None:
    """A member that joins with epoch 0 gets an epoch, a heartbeat interval and its member id."""
    member = await new_streams_member(broker, await broker.topic())
    (await member.join()).expect(
        member_id=member.id, member_epoch=AtLeast(1), heartbeat_interval_ms=AtLeast(1)
    )


@check("streams/tasks", KIP, needs=STREAMS)
async def tasks(broker: Broker) -> None:
    """The only member gets an active task for each partition of the source topic."""
    member = await new_streams_member(broker, await broker.topic(2))
    response = await member.join()
    deadline = await Now() + SETTLE_S
    while not response["active_tasks"] and await Now() < deadline:
        await Sleep(POLL_S)
        response = await member.heartbeat()
    response.at("active_tasks[0]").expect(subtopology_id=SUBTOPOLOGY, partitions=[0, 1])


@check("streams/two-members", KIP, needs=STREAMS)
async def two_members(broker: Broker) -> None:
    """Two members share the tasks: each has one of two, and none is with both."""
    first, second = await _pair(broker)
    if set(first.tasks) & set(second.tasks):
        response = await second.heartbeat()
        raise response.failed("active_tasks", f"not {first.tasks}", f"{second.tasks}")


async def _pair(broker: Broker) -> tuple[StreamsMember, StreamsMember]:
    """Return two members of a group, each of which has one of two tasks."""
    topic = await broker.topic(2)
    first = await new_streams_member(broker, topic)
    await first.join()
    await first.until_assigned(2)
    second = await new_streams_member(broker, topic, first.group)
    await second.join()
    await first.until_assigned(1)
    await second.until_assigned(1)
    return first, second


@check("streams/leave", KIP, needs=STREAMS)
async def leave(broker: Broker) -> None:
    """The tasks of a member that leaves with epoch -1 are assigned to the one that stays."""
    first, second = await _pair(broker)
    (await second.try_heartbeat(member_epoch=LEAVE)).expect(error_code="NONE", member_epoch=LEAVE)
    await first.until_assigned(2)


@check("streams/unknown-member", KIP, needs=STREAMS)
async def unknown_member(broker: Broker) -> None:
    """A heartbeat of an unknown member with an epoch above 0 gets UNKNOWN_MEMBER_ID."""
    member = await new_streams_member(broker, await broker.topic())
    await member.join()
    stranger = await new_streams_member(broker, member.topic, member.group)
    (await stranger.try_heartbeat(member_epoch=1)).expect(error_code="UNKNOWN_MEMBER_ID")


@check("streams/unknown-group", KIP, needs=STREAMS)
async def unknown_group(broker: Broker) -> None:
    """A heartbeat with an epoch above 0 in a group that does not exist gets an error."""
    member = await new_streams_member(broker, await broker.topic())
    response = await member.try_heartbeat(member_epoch=1)
    response.expect(error_code=OneOf("GROUP_ID_NOT_FOUND", "UNKNOWN_MEMBER_ID"))


@check("streams/epoch-too-new", KIP, needs=STREAMS)
async def epoch_too_new(broker: Broker) -> None:
    """A heartbeat with a newer epoch than the member has gets FENCED_MEMBER_EPOCH."""
    member = await new_streams_member(broker, await broker.topic())
    await member.join()
    response = await member.try_heartbeat(member_epoch=member.epoch + 5)
    response.expect(error_code="FENCED_MEMBER_EPOCH")


@check("streams/without-topology", KIP, needs=STREAMS)
async def without_topology(broker: Broker) -> None:
    """A member that joins without topology gets INVALID_REQUEST."""
    await _invalid(broker, topology=None)


@check("streams/without-member-id", KIP, needs=STREAMS)
async def without_member_id(broker: Broker) -> None:
    """A member that joins without member id gets INVALID_REQUEST."""
    await _invalid(broker, member_id="")


@check("streams/without-rebalance-timeout", KIP, needs=STREAMS)
async def without_rebalance_timeout(broker: Broker) -> None:
    """A member that joins without rebalance timeout gets INVALID_REQUEST."""
    await _invalid(broker, rebalance_timeout_ms=-1)


@check("streams/joins-with-tasks", KIP, needs=STREAMS)
async def joins_with_tasks(broker: Broker) -> None:
    """A member that joins with tasks gets INVALID_REQUEST."""
    await _invalid(broker, active_tasks=[{"subtopology_id": SUBTOPOLOGY, "partitions": [0]}])


async def _invalid(broker: Broker, **fields: object) -> None:
    member = await new_streams_member(broker, await broker.topic())
    response = await member.try_heartbeat(**{**member.joining(), **fields})
    response.expect(error_code="INVALID_REQUEST")


@check("streams/missing-topics", KIP, needs=STREAMS)
async def missing_topics(broker: Broker) -> None:
    """A member whose source topic does not exist gets the status MISSING_SOURCE_TOPICS and no tasks."""
    member = await new_streams_member(broker, broker.name("topic"))
    response = await member.join()
    if not _status(response, MISSING_SOURCE_TOPICS) or member.tasks:
        received = f"{response['status']}, tasks {member.tasks}"
        raise response.failed("status", f"code {MISSING_SOURCE_TOPICS}, no tasks", received)


@check("streams/topology-stale", KIP, needs=STREAMS)
async def topology_stale(broker: Broker) -> None:
    """A member that joins with another epoch of the topology gets the status STALE_TOPOLOGY."""
    member = await new_streams_member(broker, await broker.topic())
    await member.join(topology=topology(member.topic, 3))
    other = await new_streams_member(broker, member.topic, member.group)
    response = await other.join(topology=topology(member.topic, 2))
    if not _status(response, STALE_TOPOLOGY):
        raise response.failed("status", f"code {STALE_TOPOLOGY}", f"{response['status']}")


@check("streams/other-type", KIP, needs={**STREAMS, "ConsumerGroupHeartbeat": 0})
async def other_type(broker: Broker) -> None:
    """A consumer that joins a streams group is refused."""
    member = await new_streams_member(broker, await broker.topic())
    await member.join()
    response = await member.connection.send(
        "ConsumerGroupHeartbeat",
        group_id=member.group,
        member_id=f"{member.id}-2",
        member_epoch=0,
        instance_id=None,
        rebalance_timeout_ms=30_000,
        subscribed_topic_names=[member.topic],
        topic_partitions=[],
    )
    response.expect(error_code=OneOf("GROUP_ID_NOT_FOUND", "INCONSISTENT_GROUP_PROTOCOL"))


@check("streams/describe", KIP, needs=DESCRIBED)
async def describe(broker: Broker) -> None:
    """StreamsGroupDescribe returns state, topology, members and their tasks."""
    member = await new_streams_member(broker, await broker.topic(2))
    await member.join()
    await member.until_assigned(2)
    response = await member.connection.send("StreamsGroupDescribe", group_ids=[member.group])
    group = response.at("groups[0]")
    group.expect(error_code="NONE", group_id=member.group, group_state="Stable")
    group.at("topology.subtopologies[0]").expect(
        subtopology_id=SUBTOPOLOGY, source_topics=[member.topic]
    )
    row = group.at("members[0]").expect(
        member_id=member.id, member_epoch=member.epoch, process_id=member.id
    )
    row.at("assignment.active_tasks[0]").expect(subtopology_id=SUBTOPOLOGY, partitions=[0, 1])


@check("streams/describe-unknown", KIP, needs=DESCRIBED)
async def describe_unknown(broker: Broker) -> None:
    """StreamsGroupDescribe of a group that does not exist gets GROUP_ID_NOT_FOUND."""
    group = broker.name("group")
    connection = await broker.coordinator(group)
    response = await connection.send("StreamsGroupDescribe", group_ids=[group])
    response.at("groups[0]").expect(error_code="GROUP_ID_NOT_FOUND", group_id=group)


@check("streams/listed", KIP, needs={**STREAMS, "ListGroups": 5})
async def listed(broker: Broker) -> None:
    """ListGroups with the type filter "streams" lists the group with its type."""
    member = await new_streams_member(broker, await broker.topic())
    await member.join()
    response = await member.connection.send(
        "ListGroups", states_filter=[], types_filter=["streams"]
    )
    response.expect(error_code="NONE")
    types = {row["group_id"]: row["group_type"] for row in response["groups"]}
    if types.get(member.group) != "streams":
        received = f"type {types.get(member.group)}"
        raise response.failed("groups", f"{member.group} of type streams", received)


CHECKS: Final[tuple[Check, ...]] = (
    join,
    tasks,
    two_members,
    leave,
    unknown_member,
    unknown_group,
    epoch_too_new,
    without_topology,
    without_member_id,
    without_rebalance_timeout,
    joins_with_tasks,
    missing_topics,
    topology_stale,
    other_type,
    describe,
    describe_unknown,
    listed,
)
