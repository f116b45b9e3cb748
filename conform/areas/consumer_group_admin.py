"""Consumer groups of KIP-848 as administrators see them, and their relation to classic groups."""

from __future__ import annotations

from typing import Final

from barnabas.conform.areas.group_admin import delete, describe, listed
from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.commits import COMMITS, commit, committed
from barnabas.conform.connection import SETTLE_S
from barnabas.conform.consumer_members import (
    CONSUMER,
    LEAVE,
    POLL_S,
    enabled,
    new_consumer,
    only_consumer,
)
from barnabas.conform.expectations import Not, OneOf
from barnabas.conform.groups import MEMBERS, new_member, only_member, subscription
from barnabas.conform.operations import Now, Sleep
from barnabas.conform.response import Response

DESCRIBED: Final = {**CONSUMER, "ConsumerGroupDescribe": 0}


async def describe_consumers(broker: Broker, group: str) -> Response:
    """Describe a consumer group, and return its part of the response."""
    connection = await broker.coordinator(group)
    response = await connection.send("ConsumerGroupDescribe", group_ids=[group])
    return enabled(response.at("groups[0]"))


@check(
    "consumer-group/describe",
    "KIP-848; ConsumerGroupDescribeResponse.json",
    needs=DESCRIBED,
    each="ConsumerGroupDescribe",
)
async def describe_group(broker: Broker) -> None:
    """A group is described with its epochs, and its members with subscriptions and assignments."""
    topic = await broker.topic()
    member = await only_consumer(broker, topic, 1)
    group = await describe_consumers(broker, member.group)
    group.expect(
        error_code="NONE",
        group_id=member.group,
        group_state="Stable",
        group_epoch=member.epoch,
        assignment_epoch=member.epoch,
        assignor_name=Not(""),
    )
    row = group.at("members[0]").expect(
        member_id=member.id,
        member_epoch=member.epoch,
        client_id="barnabas-conform",
        subscribed_topic_names=[topic],
    )
    for assignment in ("assignment", "target_assignment"):
        row.at(f"{assignment}.topic_partitions[0]").expect(topic_name=topic, partitions=[0])


@check(
    "consumer-group/describe-member-type",
    "KIP-1099",
    needs={**DESCRIBED, "ConsumerGroupDescribe": 1},
)
async def describe_member_type(broker: Broker) -> None:
    """The type of a member that uses the protocol of consumer groups is 1."""
    member = await only_consumer(broker, await broker.topic(), 1)
    group = await describe_consumers(broker, member.group)
    group.expect(**{"members[0].member_type": 1})


@check(
    "consumer-group/describe-unknown",
    "KIP-848",
    needs=DESCRIBED,
)
async def describe_unknown(broker: Broker) -> None:
    """Describing an unknown group gets GROUP_ID_NOT_FOUND."""
    group = await describe_consumers(broker, broker.name("group"))
    group.expect(error_code="GROUP_ID_NOT_FOUND")


@check(
    "consumer-group/describe-classic",
    "KIP-848",
    needs={**DESCRIBED, **MEMBERS},
)
async def describe_classic(broker: Broker) -> None:
    """A ConsumerGroupDescribe of a classic group gets GROUP_ID_NOT_FOUND."""
    member = await only_member(broker, broker.name("group"))
    group = await describe_consumers(broker, member.group)
    group.expect(error_code="GROUP_ID_NOT_FOUND")


@check(
    "consumer-group/describe-as-classic",
    "KIP-848, KIP-1043",
    level=SHOULD,
    needs={**CONSUMER, "DescribeGroups": 0},
    each="DescribeGroups",
)
async def describe_as_classic(broker: Broker) -> None:
    """A DescribeGroups of a consumer group has state Dead; from v6 on with GROUP_ID_NOT_FOUND."""
    error = "NONE" if broker.version("DescribeGroups") < 6 else "GROUP_ID_NOT_FOUND"
    member = await new_consumer(broker, broker.name("group"), [await broker.topic()])
    await member.join()
    (await describe(broker, member.group)).expect(error_code=error, group_state="Dead")


@check(
    "consumer-group/list",
    "KIP-848",
    needs={**CONSUMER, "ListGroups": 5},
)
async def list_type(broker: Broker) -> None:
    """ListGroups has a consumer group with its type and state, and its filter of types selects it."""
    member = await only_consumer(broker, await broker.topic(), 1)
    row = await listed(broker, member.group, types_filter=["consumer"])
    row.expect(group_type="consumer", group_state="Stable")


@check(
    "consumer-group/delete",
    "KIP-229, KIP-848",
    needs={**CONSUMER, "DeleteGroups": 0},
)
async def delete_group(broker: Broker) -> None:
    """A group can be deleted when its last member has left; before that it gets NON_EMPTY_GROUP."""
    member = await only_consumer(broker, await broker.topic(), 1)
    (await delete(broker, member.group)).expect(error_code="NON_EMPTY_GROUP")
    await member.try_heartbeat(member_epoch=LEAVE)
    (await delete(broker, member.group)).expect(error_code="NONE")


@check(
    "consumer-group/classic-heartbeat",
    "KIP-848",
    needs={**CONSUMER, "Heartbeat": 0},
)
async def classic_heartbeat(broker: Broker) -> None:
    """A classic Heartbeat of a member of a consumer group gets UNKNOWN_MEMBER_ID."""
    member = await only_consumer(broker, await broker.topic(), 1)
    classic = await new_member(broker, member.group, id=member.id, generation=member.epoch)
    (await classic.heartbeat()).expect(error_code="UNKNOWN_MEMBER_ID")


@check(
    "consumer-group/from-empty-classic",
    "KIP-848",
    needs={**CONSUMER, **MEMBERS, **COMMITS, "LeaveGroup": 0},
)
async def from_empty_classic(broker: Broker) -> None:
    """An empty classic group becomes a consumer group when a member joins, and keeps its offsets."""
    topic = await broker.topic()
    classic = await only_member(broker, broker.name("group"))
    await classic.leave()
    await commit(broker, classic.group, topic, 5)
    member = await new_consumer(broker, classic.group, [topic])
    await member.join()
    await member.until_assigned(1)
    (await committed(broker, classic.group, topic)).expect(committed_offset=5)


@check(
    "consumer-group/to-classic",
    "KIP-848",
    needs={**CONSUMER, **MEMBERS},
)
async def to_classic(broker: Broker) -> None:
    """An empty consumer group becomes a classic group when a classic member joins."""
    member = await only_consumer(broker, await broker.topic(), 1)
    await member.try_heartbeat(member_epoch=LEAVE)
    classic = await only_member(broker, member.group)
    (await classic.heartbeat()).expect(error_code="NONE")
    stranger = await member.try_heartbeat()
    stranger.expect(error_code=OneOf("GROUP_ID_NOT_FOUND", "UNKNOWN_MEMBER_ID"))


@check(
    "consumer-group/classic-member",
    "KIP-848; group.consumer.migration.policy",
    level=SHOULD,
    needs={**CONSUMER, **MEMBERS},
)
async def classic_member(broker: Broker) -> None:
    """A classic consumer joins a group with members of the new protocol, and gets its share."""
    topic = await broker.topic(2)
    member = await only_consumer(broker, topic, 2)
    classic = await new_member(broker, member.group, protocols={"range": subscription(topic)})
    deadline = await Now() + SETTLE_S
    while True:
        (await classic.join()).expect(protocol_name="range")
        await member.heartbeat()
        response = await classic.sync()
        if topic.encode() in response["assignment"]:
            break
        if await Now() > deadline:
            raise response.failed("assignment", f"a partition of {topic}", response["error_code"])
        await Sleep(POLL_S)
    await member.until_assigned(1)


CHECKS: Final[tuple[Check, ...]] = (
    describe_group,
    describe_member_type,
    describe_unknown,
    describe_classic,
    describe_as_classic,
    list_type,
    delete_group,
    classic_heartbeat,
    from_empty_classic,
    to_classic,
    classic_member,
)
