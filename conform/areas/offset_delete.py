"""OffsetDelete: committed offsets of groups, removed by administrators (KIP-496)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.commits import COMMITS, as_member, commit, committed
from barnabas.conform.groups import MEMBERS, only_member, subscription
from barnabas.conform.response import Response

NEEDS: Final = {**COMMITS, "OffsetDelete": 0}


async def delete(
    broker: Broker, group: str, topic: str, partitions: Sequence[int] = (0,)
) -> Response:
    """Delete offsets of a topic, and return the response."""
    rows = [{"partition_index": partition} for partition in partitions]
    return await (await broker.coordinator(group)).send(
        "OffsetDelete", group_id=group, topics=[{"name": topic, "partitions": rows}]
    )


@check(
    "offset-delete/empty-group",
    "KIP-496",
    needs=NEEDS,
)
async def empty_group(broker: Broker) -> None:
    """An offset of a group without members is deleted, and others are kept."""
    group, topic = broker.name("group"), await broker.topic(2)
    await commit(broker, group, topic, {0: 5, 1: 6})
    response = await delete(broker, group, topic)
    response.expect(error_code="NONE")
    response.at("topics[0]").expect(**{"name": topic, "partitions[0].error_code": "NONE"})
    (await committed(broker, group, topic, 0)).expect(committed_offset=-1)
    (await committed(broker, group, topic, 1)).expect(committed_offset=6)


@check(
    "offset-delete/subscribed",
    "KIP-496",
    needs={**MEMBERS, **NEEDS},
)
async def subscribed(broker: Broker) -> None:
    """An offset of a topic to which members subscribe is kept: GROUP_SUBSCRIBED_TO_TOPIC."""
    topic = await broker.topic()
    member = await only_member(
        broker, broker.name("group"), protocols={"range": subscription(topic)}
    )
    await commit(broker, member.group, topic, 5, member=as_member(member))
    response = await delete(broker, member.group, topic)
    response.expect(error_code="NONE")
    response.expect(**{"topics[0].partitions[0].error_code": "GROUP_SUBSCRIBED_TO_TOPIC"})
    (await committed(broker, member.group, topic)).expect(committed_offset=5)


@check(
    "offset-delete/not-subscribed",
    "KIP-496",
    needs={**MEMBERS, **NEEDS},
)
async def not_subscribed(broker: Broker) -> None:
    """An offset of a topic to which no member subscribes is deleted, though the group has members."""
    topic = await broker.topic()
    member = await only_member(
        broker, broker.name("group"), protocols={"range": subscription("another-topic")}
    )
    await commit(broker, member.group, topic, 5, member=as_member(member))
    response = await delete(broker, member.group, topic)
    response.expect(**{"error_code": "NONE", "topics[0].partitions[0].error_code": "NONE"})
    (await committed(broker, member.group, topic)).expect(committed_offset=-1)


@check(
    "offset-delete/other-protocol-type",
    "KIP-496; ClassicGroup.validateOffsetDelete",
    needs={**MEMBERS, **NEEDS},
)
async def other_protocol_type(broker: Broker) -> None:
    """Offsets of a group whose members are not consumers are kept: NON_EMPTY_GROUP."""
    topic = await broker.topic()
    member = await only_member(broker, broker.name("group"), protocol_type="connect")
    (await delete(broker, member.group, topic)).expect(error_code="NON_EMPTY_GROUP")


@check(
    "offset-delete/unknown-group",
    "KIP-496",
    needs=NEEDS,
)
async def unknown_group(broker: Broker) -> None:
    """Deleting offsets of an unknown group gets GROUP_ID_NOT_FOUND."""
    topic = await broker.topic()
    (await delete(broker, broker.name("group"), topic)).expect(error_code="GROUP_ID_NOT_FOUND")


@check(
    "offset-delete/unknown-partition",
    "KIP-496; KafkaApis.handleOffsetDeleteRequest",
    needs=NEEDS,
)
async def unknown_partition(broker: Broker) -> None:
    """An unknown partition gets UNKNOWN_TOPIC_OR_PARTITION."""
    group, topic = broker.name("group"), await broker.topic()
    await commit(broker, group, topic, 5)
    response = await delete(broker, group, topic, (7,))
    response.expect(error_code="NONE")
    response.at("topics[0].partitions[0]").expect(
        partition_index=7, error_code="UNKNOWN_TOPIC_OR_PARTITION"
    )


@check(
    "offset-delete/nothing-committed",
    "OffsetMetadataManager.deleteOffsets",
    level=SHOULD,
    needs=NEEDS,
)
async def nothing_committed(broker: Broker) -> None:
    """Deleting an offset that was never committed gets no error."""
    group, topic = broker.name("group"), await broker.topic(2)
    await commit(broker, group, topic, 5)
    response = await delete(broker, group, topic, (1,))
    response.expect(**{"error_code": "NONE", "topics[0].partitions[0].error_code": "NONE"})


CHECKS: Final[tuple[Check, ...]] = (
    empty_group,
    subscribed,
    not_subscribed,
    other_protocol_type,
    unknown_group,
    unknown_partition,
    nothing_committed,
)
