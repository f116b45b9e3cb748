"""Share groups (KIP-932): membership, acquired records, acknowledgements, share sessions."""

from __future__ import annotations

from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import Check, check
from barnabas.conform.expectations import AtLeast, OneOf
from barnabas.conform.logs import produced
from barnabas.conform.shares import ACCEPT, REJECT, RELEASE, joining, member

KIP: Final = "KIP-932"
JOINS: Final = {"ShareGroupHeartbeat": 1, "FindCoordinator": 0, "Metadata": 10}
READS: Final = {
    **JOINS,
    "ShareFetch": 1,
    "ShareAcknowledge": 1,
    "Produce": 3,
    "IncrementalAlterConfigs": 0,
}


@check("share/join", KIP, needs=JOINS)
async def join(broker: Broker) -> None:
    """A member that joins with epoch 0 gets an epoch, a heartbeat interval and its member id."""
    topic = await broker.topic()
    consumer = await joining(broker, topic)
    response = await consumer.heartbeat(0, [topic])
    response.expect(
        error_code="NONE",
        member_id=consumer.member_id,
        member_epoch=AtLeast(1),
        heartbeat_interval_ms=AtLeast(1),
    )


@check("share/assignment", KIP, needs=JOINS)
async def assignment(broker: Broker) -> None:
    """A member is assigned the partitions of the topics to which it subscribes."""
    topic = await broker.topic()
    consumer = await member(broker, topic)
    response = await consumer.heartbeat(topics=[topic])
    if not response["assignment"]:
        response = await consumer.heartbeat(0, [topic])
    response.at("assignment.topic_partitions[0]").expect(
        topic_id=await broker.topic_id(topic), partitions=[0]
    )


@check("share/unknown-member", KIP, needs=JOINS)
async def unknown_member(broker: Broker) -> None:
    """A heartbeat of an unknown member with an epoch above 0 gets UNKNOWN_MEMBER_ID."""
    topic = await broker.topic()
    first = await member(broker, topic)
    stranger = await joining(broker, topic, first.group, number=2)
    (await stranger.heartbeat(3, [topic])).expect(error_code="UNKNOWN_MEMBER_ID")


@check("share/epoch-too-new", KIP, needs=JOINS)
async def epoch_too_new(broker: Broker) -> None:
    """A heartbeat with a newer epoch than the member has gets FENCED_MEMBER_EPOCH."""
    topic = await broker.topic()
    consumer = await member(broker, topic)
    (await consumer.heartbeat(consumer.member_epoch + 5)).expect(error_code="FENCED_MEMBER_EPOCH")


@check("share/leave", KIP, needs=JOINS)
async def leave(broker: Broker) -> None:
    """A member leaves with epoch -1, and is unknown afterwards."""
    topic = await broker.topic()
    consumer = await member(broker, topic)
    epoch = consumer.member_epoch
    (await consumer.heartbeat(-1)).expect(error_code="NONE", member_epoch=-1)
    (await consumer.heartbeat(epoch)).expect(
        error_code=OneOf("UNKNOWN_MEMBER_ID", "GROUP_ID_NOT_FOUND")
    )


@check("share/two-members", KIP, needs=JOINS)
async def two_members(broker: Broker) -> None:
    """Two members of a share group may be assigned the same partition."""
    topic = await broker.topic()
    first = await member(broker, topic)
    second = await member(broker, topic, first.group, number=2)
    for consumer in (first, second):
        response = await consumer.heartbeat(0, [topic])
        response.at("assignment.topic_partitions[0]").expect(partitions=[0])


@check("share/fetch-acquires", KIP, needs=READS)
async def fetch_acquires(broker: Broker) -> None:
    """ShareFetch returns records and acquires them with a delivery count of 1."""
    topic = await broker.topic()
    await produced(broker, topic, "a", "b")
    part = await (await member(broker, topic)).acquired()
    part.at("acquired_records[0]").expect(first_offset=0, last_offset=1, delivery_count=1)


@check("share/accept", KIP, needs=READS)
async def accept(broker: Broker) -> None:
    """Accepted records are not delivered again."""
    await _not_again(broker, ACCEPT)


@check("share/reject", KIP, needs=READS)
async def reject(broker: Broker) -> None:
    """Rejected records are not delivered again."""
    await _not_again(broker, REJECT)


async def _not_again(broker: Broker, kind: int) -> None:
    """Acknowledge records, and expect that the next fetch acquires only newer ones."""
    topic = await broker.topic()
    await produced(broker, topic, "a", "b")
    consumer = await member(broker, topic)
    await consumer.acquired()
    response = (await consumer.acknowledge((0, 1, kind))).expect(error_code="NONE")
    response.at("responses[0].partitions[0]").expect(error_code="NONE")
    await produced(broker, topic, "c")
    (await consumer.acquired()).at("acquired_records[0]").expect(first_offset=2, delivery_count=1)


@check("share/release", KIP, needs=READS)
async def release(broker: Broker) -> None:
    """Released records are delivered again with a delivery count of 2."""
    topic = await broker.topic()
    await produced(broker, topic, "a", "b")
    consumer = await member(broker, topic)
    await consumer.acquired()
    (await consumer.acknowledge((0, 1, RELEASE))).expect(error_code="NONE")
    part = await consumer.acquired()
    part.at("acquired_records[0]").expect(first_offset=0, last_offset=1, delivery_count=2)


@check("share/acknowledge-in-fetch", KIP, needs=READS)
async def acknowledge_in_fetch(broker: Broker) -> None:
    """ShareFetch acknowledges records, and reports it for the partition."""
    topic = await broker.topic()
    await produced(broker, topic, "a")
    consumer = await member(broker, topic)
    await consumer.acquired()
    response = (await consumer.fetch((0, 0, ACCEPT))).expect(error_code="NONE")
    response.at("responses[0].partitions[0]").expect(acknowledge_error_code="NONE")


@check("share/acknowledge-not-acquired", KIP, needs=READS)
async def acknowledge_not_acquired(broker: Broker) -> None:
    """Acknowledging records that another member has acquired gets INVALID_RECORD_STATE."""
    topic = await broker.topic()
    await produced(broker, topic, "a")
    first = await member(broker, topic)
    second = await member(broker, topic, first.group, number=2)
    await first.acquired()
    (await second.fetch()).expect(error_code="NONE")
    response = await second.acknowledge((0, 0, ACCEPT))
    response.at("responses[0].partitions[0]").expect(error_code="INVALID_RECORD_STATE")


@check("share/session-epoch", KIP, needs=READS)
async def session_epoch(broker: Broker) -> None:
    """A wrong share session epoch gets INVALID_SHARE_SESSION_EPOCH."""
    topic = await broker.topic()
    await produced(broker, topic, "a")
    consumer = await member(broker, topic)
    await consumer.acquired()
    response = await consumer.fetch(share_session_epoch=consumer.session_epoch + 5)
    response.expect(error_code="INVALID_SHARE_SESSION_EPOCH")


@check("share/session-unknown", KIP, needs=READS)
async def session_unknown(broker: Broker) -> None:
    """A share session that the broker does not have gets SHARE_SESSION_NOT_FOUND."""
    topic = await broker.topic()
    consumer = await member(broker, topic)
    response = await consumer.fetch(share_session_epoch=7)
    response.expect(error_code="SHARE_SESSION_NOT_FOUND")


@check("share/session-end-releases", KIP, needs=READS)
async def session_end_releases(broker: Broker) -> None:
    """The end of a share session (epoch -1) releases its records to other members."""
    topic = await broker.topic()
    await produced(broker, topic, "a")
    first = await member(broker, topic)
    second = await member(broker, topic, first.group, number=2)
    await first.acquired()
    (await first.fetch(share_session_epoch=-1, topics=[])).expect(error_code="NONE")
    part = await second.acquired()
    part.at("acquired_records[0]").expect(first_offset=0, delivery_count=2)


@check("share/describe", KIP, needs={**JOINS, "ShareGroupDescribe": 1})
async def describe(broker: Broker) -> None:
    """ShareGroupDescribe returns the group's state and its members."""
    topic = await broker.topic()
    consumer = await member(broker, topic)
    response = await consumer.coordinator.send("ShareGroupDescribe", group_ids=[consumer.group])
    group = response.at("groups[0]").expect(error_code="NONE", group_state="Stable")
    group.at("members[0]").expect(member_id=consumer.member_id, subscribed_topic_names=[topic])


CHECKS: Final[tuple[Check, ...]] = (
    join,
    assignment,
    unknown_member,
    epoch_too_new,
    leave,
    two_members,
    fetch_acquires,
    accept,
    reject,
    release,
    acknowledge_in_fetch,
    acknowledge_not_acquired,
    session_epoch,
    session_unknown,
    session_end_releases,
    describe,
)
