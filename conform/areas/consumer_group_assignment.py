"""Consumer groups of KIP-848: assignments, subscriptions, static members, many members."""

from __future__ import annotations

from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.connection import SETTLE_S
from barnabas.conform.consumer_members import (
    CONSUMER,
    LEAVE,
    LEAVE_STATIC,
    POLL_S,
    ConsumerMember,
    consumer_pair,
    new_consumer,
    only_consumer,
)
from barnabas.conform.expectations import AtLeast
from barnabas.conform.operations import Now, Sleep
from barnabas.conform.response import Response


@check(
    "consumer-group/shared",
    "KIP-848",
    needs=CONSUMER,
)
async def shared(broker: Broker) -> None:
    """Two members get one each of a topic's two partitions."""
    first, second = await consumer_pair(broker, await broker.topic(2))
    response = await second.heartbeat()
    if sorted(first.partitions + second.partitions) != [0, 1]:
        received = f"{first.partitions} and {second.partitions}"
        raise response.failed("assignment", "partitions 0 and 1 at different members", received)


@check(
    "consumer-group/revoke-before-assign",
    "KIP-848",
    needs=CONSUMER,
)
async def revoke_before_assign(broker: Broker) -> None:
    """A partition is assigned to another member only when its owner has confirmed that it gave it up."""
    topic = await broker.topic(2)
    owner = await only_consumer(broker, topic, 2)
    all_partitions = owner.owned
    newcomer = await new_consumer(broker, owner.group, [topic])
    await newcomer.join()
    news = await _assignment_news(owner)
    for _ in range(3):
        # The owner still holds both partitions.
        (await owner.try_heartbeat(topic_partitions=all_partitions)).expect(error_code="NONE")
        response = await newcomer.heartbeat()
        if newcomer.partitions:
            raise response.failed("assignment", "no partition yet", f"{newcomer.partitions}")
    owner.accept(news)
    await owner.heartbeat()
    await newcomer.until_assigned(1)


async def _assignment_news(member: ConsumerMember) -> Response:
    """Send heartbeats until one has an assignment, and return its response. Raises Failed after 10 s."""
    deadline = await Now() + SETTLE_S
    while True:
        response = await member.try_heartbeat()
        if response["assignment"] is not None or await Now() > deadline:
            return response.expect(error_code="NONE", assignment={})
        await Sleep(POLL_S)


@check(
    "consumer-group/join-together",
    "KIP-848",
    needs=CONSUMER,
)
async def join_together(broker: Broker) -> None:
    """Four members that join at once share a topic's four partitions, one each."""
    group, topic = broker.name("group"), await broker.topic(4)
    members = [await new_consumer(broker, group, [topic]) for _ in range(4)]
    for member in members:
        await member.request_heartbeat(**member.joining())
    for member in members:
        member.accept(await member.connection.read())
    deadline = await Now() + SETTLE_S
    while any(len(member.partitions) != 1 for member in members) and await Now() < deadline:
        for member in members:
            await member.heartbeat()
        await Sleep(POLL_S)
    response = await members[-1].heartbeat()
    received = [member.partitions for member in members]
    if sorted(received) != [[0], [1], [2], [3]]:
        raise response.failed("assignment", "one partition for each of 4 members", f"{received}")


@check(
    "consumer-group/subscription-changes",
    "KIP-848",
    needs=CONSUMER,
)
async def subscription_changes(broker: Broker) -> None:
    """A member that subscribes to other topics gets their partitions and a higher epoch."""
    topic, other = await broker.topic(), await broker.topic(2)
    member = await only_consumer(broker, topic, 1)
    before = member.epoch
    await member.heartbeat(subscribed_topic_names=[other])
    response = await member.until_assigned(2)
    response.expect(member_epoch=AtLeast(before + 1))
    if [row["topic_id"] for row in member.owned] != [await broker.topic_id(other)]:
        raise response.failed("assignment", "partitions of the other topic", f"{member.owned}")


@check(
    "consumer-group/topic-appears",
    "KIP-848",
    needs={**CONSUMER, "CreateTopics": 0},
)
async def topic_appears(broker: Broker) -> None:
    """A member that subscribes to a topic that does not exist gets its partitions when it is created."""
    topic = broker.name("topic")
    member = await new_consumer(broker, broker.name("group"), [topic])
    await member.join()
    await member.until_assigned(0)
    await broker.create(topic, 1, {})
    await member.until_assigned(1)


@check(
    "consumer-group/assignor",
    "KIP-848; group.consumer.assignors",
    needs=CONSUMER,
)
async def assignor(broker: Broker) -> None:
    """The assignors of the coordinator are uniform and range."""
    topic = await broker.topic()
    for name in ("uniform", "range"):
        member = await new_consumer(broker, broker.name("group"), [topic])
        await member.join(server_assignor=name)
        await member.until_assigned(1)


@check(
    "consumer-group/assignor-unknown",
    "KIP-848",
    needs=CONSUMER,
)
async def assignor_unknown(broker: Broker) -> None:
    """An unknown assignor gets UNSUPPORTED_ASSIGNOR."""
    member = await new_consumer(broker, broker.name("group"), [await broker.topic()])
    fields = {**member.joining(), "server_assignor": "no-such-assignor"}
    (await member.try_heartbeat(**fields)).expect(error_code="UNSUPPORTED_ASSIGNOR")


@check(
    "consumer-group/regex",
    "KIP-848; ConsumerGroupHeartbeatRequest.json",
    needs={"ConsumerGroupHeartbeat": 1},
)
async def regex(broker: Broker) -> None:
    """A member that subscribes by a regular expression gets the partitions of topics that match."""
    topic = await broker.topic()
    member = await new_consumer(broker, broker.name("group"), [])
    await member.join(
        subscribed_topic_names=None, subscribed_topic_regex=f"{topic[:-1]}[{topic[-1]}]"
    )
    response = await member.until_assigned(1)
    if member.owned[0]["topic_id"] != await broker.topic_id(topic):
        raise response.failed("assignment", f"the partition of {topic}", f"{member.owned}")


@check(
    "consumer-group/regex-invalid",
    "KIP-848",
    needs={"ConsumerGroupHeartbeat": 1},
)
async def regex_invalid(broker: Broker) -> None:
    """An invalid regular expression gets INVALID_REGULAR_EXPRESSION."""
    member = await new_consumer(broker, broker.name("group"), [])
    fields = {"subscribed_topic_names": None, "subscribed_topic_regex": "(unclosed"}
    response = await member.try_heartbeat(**{**member.joining(), **fields})
    response.expect(error_code="INVALID_REGULAR_EXPRESSION")


@check(
    "consumer-group/static-unreleased",
    "KIP-848",
    needs=CONSUMER,
)
async def static_unreleased(broker: Broker) -> None:
    """The instance id of a present member gets UNRELEASED_INSTANCE_ID from another one that joins."""
    topic = await broker.topic()
    member = await only_consumer(broker, topic, 1, instance_id="i")
    other = await new_consumer(broker, member.group, [topic], instance_id="i")
    response = await other.try_heartbeat(**other.joining())
    response.expect(error_code="UNRELEASED_INSTANCE_ID")


@check(
    "consumer-group/static-restart",
    "KIP-848",
    needs=CONSUMER,
)
async def static_restart(broker: Broker) -> None:
    """A static member that leaves with epoch -2 gets its partition back when it joins under another id."""
    topic = await broker.topic(2)
    first = await only_consumer(broker, topic, 2)
    static = await new_consumer(broker, first.group, [topic], instance_id="i")
    await static.join()
    await first.until_assigned(1)
    await static.until_assigned(1)
    leave = await static.try_heartbeat(member_epoch=LEAVE_STATIC)
    leave.expect(error_code="NONE", member_epoch=LEAVE_STATIC)
    await first.until_assigned(1)
    again = await new_consumer(broker, first.group, [topic], instance_id="i")
    await again.join()
    response = await again.until_assigned(1)
    if again.partitions != static.partitions:
        raise response.failed("assignment", f"{static.partitions}", f"{again.partitions}")


@check(
    "consumer-group/static-fenced",
    "KIP-848",
    needs=CONSUMER,
)
async def static_fenced(broker: Broker) -> None:
    """After a static member was replaced, a heartbeat with its old id gets FENCED_INSTANCE_ID."""
    topic = await broker.topic()
    old = await only_consumer(broker, topic, 1, instance_id="i")
    await old.try_heartbeat(member_epoch=LEAVE_STATIC)
    again = await new_consumer(broker, old.group, [topic], instance_id="i")
    await again.join()
    (await old.try_heartbeat()).expect(error_code="FENCED_INSTANCE_ID")


@check(
    "consumer-group/static-unknown",
    "KIP-848",
    needs=CONSUMER,
)
async def static_unknown(broker: Broker) -> None:
    """A heartbeat with an unknown instance id and an epoch above 0 gets UNKNOWN_MEMBER_ID."""
    topic = await broker.topic()
    member = await only_consumer(broker, topic, 1)
    response = await member.try_heartbeat(instance_id="unknown")
    response.expect(error_code="UNKNOWN_MEMBER_ID")


@check(
    "consumer-group/last-leaves",
    "KIP-848",
    needs=CONSUMER,
)
async def last_leaves(broker: Broker) -> None:
    """A group whose last member has left takes new members, with higher epochs."""
    topic = await broker.topic()
    member = await only_consumer(broker, topic, 1)
    await member.try_heartbeat(member_epoch=LEAVE)
    other = await new_consumer(broker, member.group, [topic])
    await other.join()
    (await other.until_assigned(1)).expect(member_epoch=AtLeast(member.epoch + 1))


@check(
    "consumer-group/last-leaves-epochs",
    "KIP-848; apache/kafka#22045 (KAFKA-20442)",
    level=SHOULD,
    needs={**CONSUMER, "ConsumerGroupDescribe": 0},
    since="4.4.0",
)
async def last_leaves_epochs(broker: Broker) -> None:
    """After the last member has left, the assignment epoch of the group is its group epoch."""
    topic = await broker.topic()
    member = await only_consumer(broker, topic, 1)
    await member.try_heartbeat(member_epoch=LEAVE)
    response = await member.connection.send("ConsumerGroupDescribe", group_ids=[member.group])
    group = response.at("groups[0]").expect(error_code="NONE", group_state="Empty")
    group.expect(assignment_epoch=group["group_epoch"])


CHECKS: Final[tuple[Check, ...]] = (
    shared,
    revoke_before_assign,
    join_together,
    subscription_changes,
    topic_appears,
    assignor,
    assignor_unknown,
    regex,
    regex_invalid,
    static_unreleased,
    static_restart,
    static_fenced,
    static_unknown,
    last_leaves,
    last_leaves_epochs,
)
