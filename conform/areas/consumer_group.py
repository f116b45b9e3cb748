"""Consumer groups of KIP-848: joining, epochs, leaving."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.consumer_members import (
    CONSUMER,
    LEAVE,
    consumer_pair,
    new_consumer,
    only_consumer,
)
from barnabas.conform.expectations import AtLeast, OneOf


@check(
    "consumer-group/join",
    "KIP-848",
    needs=CONSUMER,
    each="ConsumerGroupHeartbeat",
)
async def join(broker: Broker) -> None:
    """A member that joins gets an epoch above 0, a heartbeat interval and soon all partitions."""
    topic = await broker.topic(2)
    member = await new_consumer(broker, broker.name("group"), [topic])
    response = await member.join()
    response.expect(member_id=member.id, member_epoch=AtLeast(1), heartbeat_interval_ms=AtLeast(1))
    response = await member.until_assigned(2)
    topic_id = await broker.topic_id(topic)
    if member.owned != [{"topic_id": topic_id, "partitions": member.partitions}]:
        raise response.failed("assignment", f"partitions of {topic_id}", f"{member.owned}")


@check(
    "consumer-group/member-id",
    "KIP-1082",
    needs={"ConsumerGroupHeartbeat": 1},
)
async def member_id(broker: Broker) -> None:
    """From v1 on a member that joins without an id of its own gets INVALID_REQUEST."""
    member = await new_consumer(broker, broker.name("group"), [await broker.topic()], id="")
    response = await member.try_heartbeat(**member.joining())
    response.expect(error_code="INVALID_REQUEST")


@check(
    "consumer-group/keep",
    "KIP-848",
    needs=CONSUMER,
)
async def keep_assignment(broker: Broker) -> None:
    """A heartbeat without news gets the same epoch, and no assignment (null)."""
    member = await only_consumer(broker, await broker.topic(), 1)
    epoch = member.epoch
    (await member.try_heartbeat()).expect(error_code="NONE", member_epoch=epoch, assignment=None)


@check(
    "consumer-group/full-heartbeat",
    "KIP-848",
    level=SHOULD,
    needs=CONSUMER,
)
async def full_heartbeat(broker: Broker) -> None:
    """A heartbeat with all fields gets the assignment again, also without news."""
    member = await only_consumer(broker, await broker.topic(), 1)
    response = await member.try_heartbeat(
        **{**member.joining(), "member_epoch": member.epoch, "topic_partitions": member.owned}
    )
    response.expect(error_code="NONE")
    response.at("assignment.topic_partitions[0]").expect(partitions=[0])


@check(
    "consumer-group/epoch-too-new",
    "KIP-848; GroupMetadataManager.throwIfConsumerGroupMemberEpochIsInvalid",
    needs=CONSUMER,
)
async def epoch_too_new(broker: Broker) -> None:
    """A heartbeat with an epoch above the member's gets FENCED_MEMBER_EPOCH."""
    member = await only_consumer(broker, await broker.topic(), 1)
    response = await member.try_heartbeat(member_epoch=member.epoch + 1)
    response.expect(error_code="FENCED_MEMBER_EPOCH")


@check(
    "consumer-group/epoch-too-old",
    "KIP-848; GroupMetadataManager.throwIfConsumerGroupMemberEpochIsInvalid",
    needs=CONSUMER,
)
async def epoch_too_old(broker: Broker) -> None:
    """A heartbeat with the previous epoch and partitions that are no longer the member's is fenced."""
    topic = await broker.topic(2)
    member = await only_consumer(broker, topic, 2)
    before, all_partitions = member.epoch, member.owned
    second = await new_consumer(broker, member.group, [topic])
    await second.join()
    await member.until_assigned(1)
    response = await member.try_heartbeat(member_epoch=before, topic_partitions=all_partitions)
    response.expect(error_code="FENCED_MEMBER_EPOCH")


@check(
    "consumer-group/unknown-member",
    "KIP-848",
    needs=CONSUMER,
)
async def unknown_member(broker: Broker) -> None:
    """A heartbeat of a stranger with an epoch above 0 gets UNKNOWN_MEMBER_ID."""
    topic = await broker.topic()
    member = await only_consumer(broker, topic, 1)
    stranger = await new_consumer(broker, member.group, [topic])
    response = await stranger.try_heartbeat(member_epoch=member.epoch)
    response.expect(error_code="UNKNOWN_MEMBER_ID")


@check(
    "consumer-group/unknown-group",
    "GroupMetadataManager.getOrMaybeCreateConsumerGroup",
    level=SHOULD,
    needs=CONSUMER,
)
async def unknown_group(broker: Broker) -> None:
    """A heartbeat with an epoch above 0 in an unknown group gets GROUP_ID_NOT_FOUND or UNKNOWN_MEMBER_ID."""
    stranger = await new_consumer(broker, broker.name("group"), [])
    response = await stranger.try_heartbeat(member_epoch=3)
    response.expect(error_code=OneOf("GROUP_ID_NOT_FOUND", "UNKNOWN_MEMBER_ID"))


@check(
    "consumer-group/rejoin",
    "KIP-848; KAFKA-19233",
    needs=CONSUMER,
    since="4.3.0",
)
async def rejoin(broker: Broker) -> None:
    """A member that joins again with epoch 0, at whatever epoch it was, gets its partitions."""
    topic, other = await broker.topic(), await broker.topic()
    member = await only_consumer(broker, topic, 1)
    for topics in ([topic, other], [topic]):
        member.topics = topics
        await member.heartbeat(subscribed_topic_names=topics)
        await member.until_assigned(len(topics))
        (await member.join()).expect(member_epoch=AtLeast(1))
        await member.until_assigned(len(topics))


INVALID: Final[dict[str, dict[str, Any]]] = {
    "an empty group id": {"group_id": ""},
    "partitions": {"topic_partitions": [{"topic_id": UUID(int=1), "partitions": [0]}]},
    "no list of partitions": {"topic_partitions": None},
    "no rebalance timeout": {"rebalance_timeout_ms": -1},
    "no subscription": {"subscribed_topic_names": None},
    "an empty instance id": {"instance_id": ""},
    "an empty rack id": {"rack_id": ""},
    "epoch -3": {"member_epoch": -3},
}
"""What a first heartbeat must not have, and the fields that do."""


async def _expect_invalid(broker: Broker, *faults: str) -> None:
    """Expect INVALID_REQUEST for first heartbeats with each fault."""
    member = await new_consumer(broker, broker.name("group"), [await broker.topic()])
    for fault in faults:
        response = await member.try_heartbeat(**{**member.joining(), **INVALID[fault]})
        if response["error_code"] != "INVALID_REQUEST":
            expected = f"INVALID_REQUEST for {fault}"
            raise response.failed("error_code", expected, response["error_code"])
    await member.join()


@check(
    "consumer-group/join-with-partitions",
    "KIP-848; franz-go@0013f780",
    needs=CONSUMER,
)
async def join_with_partitions(broker: Broker) -> None:
    """A first heartbeat must have an empty list of owned partitions: INVALID_REQUEST otherwise."""
    await _expect_invalid(broker, "partitions", "no list of partitions")


@check(
    "consumer-group/join-incomplete",
    "KIP-848",
    needs=CONSUMER,
)
async def join_incomplete(broker: Broker) -> None:
    """A first heartbeat without rebalance timeout or subscription gets INVALID_REQUEST."""
    await _expect_invalid(broker, "no rebalance timeout", "no subscription")


@check(
    "consumer-group/empty-ids",
    "KIP-848; GroupMetadataManager.throwIfEmptyString",
    level=SHOULD,
    needs=CONSUMER,
)
async def empty_ids(broker: Broker) -> None:
    """Empty group, instance and rack ids get INVALID_REQUEST."""
    await _expect_invalid(broker, "an empty group id", "an empty instance id", "an empty rack id")


@check(
    "consumer-group/epoch-invalid",
    "KIP-848",
    level=SHOULD,
    needs=CONSUMER,
)
async def epoch_invalid(broker: Broker) -> None:
    """A member epoch below -2 gets INVALID_REQUEST."""
    await _expect_invalid(broker, "epoch -3")


@check(
    "consumer-group/leave",
    "KIP-848",
    needs=CONSUMER,
)
async def leave(broker: Broker) -> None:
    """A member leaves with epoch -1, and the others get its partitions."""
    first, second = await consumer_pair(broker, await broker.topic(2))
    leave = await second.try_heartbeat(member_epoch=LEAVE)
    leave.expect(error_code="NONE", member_epoch=LEAVE)
    await first.until_assigned(2)
    again = await second.try_heartbeat()
    again.expect(error_code="UNKNOWN_MEMBER_ID")


@check(
    "consumer-group/leave-unknown",
    "KIP-848",
    level=SHOULD,
    needs=CONSUMER,
)
async def leave_unknown(broker: Broker) -> None:
    """A stranger that leaves gets UNKNOWN_MEMBER_ID."""
    member = await only_consumer(broker, await broker.topic(), 1)
    stranger = await new_consumer(broker, member.group, [])
    response = await stranger.try_heartbeat(member_epoch=LEAVE)
    response.expect(error_code="UNKNOWN_MEMBER_ID")


@check(
    "consumer-group/response-lost",
    "KIP-848; GroupMetadataManager.throwIfConsumerGroupMemberEpochIsInvalid",
    needs=CONSUMER,
)
async def response_lost(broker: Broker) -> None:
    """A heartbeat with the previous epoch is accepted: the response with the new epoch may be lost."""
    topic = await broker.topic(2)
    member = await only_consumer(broker, topic, 2)
    before = member.epoch
    second = await new_consumer(broker, member.group, [topic])
    await second.join()
    await member.until_assigned(1)
    repeated = await member.try_heartbeat(member_epoch=before, topic_partitions=member.owned)
    repeated.expect(error_code="NONE", member_epoch=member.epoch)


CHECKS: Final[tuple[Check, ...]] = (
    join,
    member_id,
    keep_assignment,
    full_heartbeat,
    epoch_too_new,
    epoch_too_old,
    unknown_member,
    unknown_group,
    rejoin,
    join_with_partitions,
    join_incomplete,
    empty_ids,
    epoch_invalid,
    leave,
    leave_unknown,
    response_lost,
)
