"""Protocols of classic groups: the members' metadata, and the choice of one that all support."""

from __future__ import annotations

from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.groups import (
    MEMBERS,
    leader_response,
    new_member,
    only_member,
    rejoin,
    subscription,
)


@check(
    "group/leader-gets-metadata",
    "JoinGroupResponse.json",
    needs=MEMBERS,
)
async def leader_gets_metadata(broker: Broker) -> None:
    """The leader gets each member's metadata of the chosen protocol, unchanged."""
    group = broker.name("group")
    first = await only_member(
        broker, group, protocol_type="bytes", protocols={"a": b"a of 1", "b": b"b of 1"}
    )
    second = await new_member(
        broker, group, protocol_type="bytes", protocols={"b": b"\0b\xff of 2"}
    )
    await second.request_join()
    response = leader_response(await rejoin(second, first)).expect(protocol_name="b")
    received = {row["member_id"]: row["metadata"] for row in response["members"]}
    expected = {first.id: b"b of 1", second.id: b"\0b\xff of 2"}
    if received != expected:
        raise response.failed("members", f"{expected}", f"{received}")


@check(
    "group/protocol-other",
    "ClassicGroup.supportsProtocols",
    needs=MEMBERS,
)
async def protocol_other(broker: Broker) -> None:
    """A JoinGroup without a protocol that all members support gets INCONSISTENT_GROUP_PROTOCOL."""
    group = broker.name("group")
    await only_member(broker, group, protocols={"range": subscription()})
    other = await new_member(broker, group, protocols={"other": subscription()})
    (await other.try_join()).expect(error_code="INCONSISTENT_GROUP_PROTOCOL")


@check(
    "group/protocol-type-other",
    "ClassicGroup.supportsProtocols",
    needs=MEMBERS,
)
async def protocol_type_other(broker: Broker) -> None:
    """A JoinGroup with another protocol type than the group's gets INCONSISTENT_GROUP_PROTOCOL."""
    group = broker.name("group")
    await only_member(broker, group)
    other = await new_member(broker, group, protocol_type="connect")
    (await other.try_join()).expect(error_code="INCONSISTENT_GROUP_PROTOCOL")


@check(
    "group/protocol-none",
    "GroupMetadataManager.classicGroupJoinToClassicGroup",
    level=SHOULD,
    needs={"JoinGroup": 0},
)
async def protocol_none(broker: Broker) -> None:
    """A first JoinGroup without protocols or protocol type gets INCONSISTENT_GROUP_PROTOCOL."""
    nothing = await new_member(broker, broker.name("group"), protocols={})
    (await nothing.try_join()).expect(error_code="INCONSISTENT_GROUP_PROTOCOL")
    untyped = await new_member(broker, broker.name("group"), protocol_type="")
    (await untyped.try_join()).expect(error_code="INCONSISTENT_GROUP_PROTOCOL")


@check(
    "group/protocol-voted",
    "ClassicGroup.selectProtocol",
    needs=MEMBERS,
)
async def protocol_voted(broker: Broker) -> None:
    """The chosen protocol is one that all members support, even if one of them prefers another."""
    first = await only_member(
        broker, broker.name("group"), protocols={"a": subscription(), "b": subscription()}
    )
    second = await new_member(
        broker, first.group, protocols={"c": subscription(), "b": subscription()}
    )
    await second.request_join()
    for response in (await rejoin(second, first)).values():
        response.expect(protocol_name="b")


@check(
    "group/protocol-preferred",
    "ClassicGroup.selectProtocol",
    level=SHOULD,
    needs=MEMBERS,
)
async def protocol_preferred(broker: Broker) -> None:
    """The coordinator chooses the protocol that most members prefer, of those that all support."""
    both = {"b": subscription(), "a": subscription()}
    first = await only_member(broker, broker.name("group"), protocols=both)
    second = await new_member(broker, first.group, protocols=both)
    await second.request_join()
    for response in (await rejoin(second, first)).values():
        response.expect(protocol_name="b")


CHECKS: Final[tuple[Check, ...]] = (
    leader_gets_metadata,
    protocol_other,
    protocol_type_other,
    protocol_none,
    protocol_voted,
    protocol_preferred,
)
