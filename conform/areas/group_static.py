"""Classic groups: static members, which keep their assignment when they restart."""

from __future__ import annotations

from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.expectations import Not, OneOf
from barnabas.conform.groups import (
    MEMBERS,
    Member,
    leave,
    new_member,
    only_member,
    rejoin,
)

STATIC: Final = {"JoinGroup": 5, "SyncGroup": 3, "Heartbeat": 3}
"""From these versions on requests have group_instance_id."""


async def _pair(broker: Broker) -> tuple[Member, Member]:
    """Return leader and follower of a stable group: the leader dynamic, the follower static."""
    leader = await only_member(broker, broker.name("group"))
    follower = await new_member(broker, leader.group, instance_id="i")
    await follower.request_join()
    await rejoin(follower, leader)
    assignments = {leader.id: b"leader", follower.id: b"follower"}
    (await leader.sync(assignments)).expect(error_code="NONE")
    (await follower.sync()).expect(error_code="NONE")
    return leader, follower


@check(
    "group/static-joins-at-once",
    "KIP-345, KIP-394",
    level=SHOULD,
    needs=STATIC,
)
async def static_joins_at_once(broker: Broker) -> None:
    """A static member joins with its first request, without MEMBER_ID_REQUIRED."""
    member = await new_member(broker, broker.name("group"), instance_id="i")
    response = await member.connection.send("JoinGroup", None, **member.join_fields())
    response.expect(error_code="NONE", member_id=Not(""))


@check(
    "group/static-instance-shown",
    "KIP-345; JoinGroupResponse.json",
    needs=STATIC,
)
async def static_instance_shown(broker: Broker) -> None:
    """The leader sees the instance id of a static member."""
    member = await new_member(broker, broker.name("group"), instance_id="i")
    (await member.join()).expect(**{"members[0].group_instance_id": "i"})


@check(
    "group/static-replaces",
    "KIP-345",
    needs=STATIC,
)
async def static_replaces(broker: Broker) -> None:
    """A restarted static member gets a new id and its old assignment."""
    _, follower = await _pair(broker)
    again = await new_member(broker, follower.group, instance_id="i")
    (await again.join()).expect(member_id=Not(follower.id))
    (await again.sync()).expect(error_code="NONE", assignment=b"follower")


@check(
    "group/static-no-rebalance",
    "KIP-345, KIP-814",
    level=SHOULD,
    needs=STATIC,
)
async def static_no_rebalance(broker: Broker) -> None:
    """A restarted static member with unchanged metadata gets the current generation: no rebalance."""
    leader, follower = await _pair(broker)
    again = await new_member(broker, follower.group, instance_id="i")
    (await again.join()).expect(generation_id=follower.generation)
    (await leader.heartbeat()).expect(error_code="NONE")


@check(
    "group/static-fenced",
    "KIP-345",
    needs=STATIC,
)
async def static_fenced(broker: Broker) -> None:
    """After a static member was replaced, its old id gets FENCED_INSTANCE_ID."""
    old = await only_member(broker, broker.name("group"), instance_id="i")
    await (await new_member(broker, old.group, instance_id="i")).join()
    (await old.heartbeat()).expect(error_code="FENCED_INSTANCE_ID")
    (await old.sync({old.id: b"all"})).expect(error_code="FENCED_INSTANCE_ID")
    (await old.try_join()).expect(error_code="FENCED_INSTANCE_ID")


@check(
    "group/static-leader-skips-assignment",
    "KIP-814",
    needs={**STATIC, "JoinGroup": 9},
)
async def static_leader_skips_assignment(broker: Broker) -> None:
    """A restarted static leader is the leader again, and its response has skip_assignment."""
    old = await only_member(broker, broker.name("group"), instance_id="i")
    again = await new_member(broker, old.group, instance_id="i")
    response = await again.join()
    response.expect(leader=response["member_id"], skip_assignment=True)
    (await again.sync()).expect(error_code="NONE", assignment=b"all")


@check(
    "group/static-leave",
    "KIP-345",
    needs={**STATIC, "LeaveGroup": 3},
)
async def static_leave(broker: Broker) -> None:
    """A LeaveGroup with only the instance id removes a static member, as administrators do."""
    leader, follower = await _pair(broker)
    response = await leave(leader.connection, leader.group, "", "i")
    response.expect(error_code="NONE", group_instance_id="i")
    (await follower.heartbeat()).expect(error_code=OneOf("UNKNOWN_MEMBER_ID", "FENCED_INSTANCE_ID"))
    await leader.expect_rebalance()


@check(
    "group/static-leave-unknown",
    "KIP-345",
    needs={**MEMBERS, "LeaveGroup": 3},
)
async def static_leave_unknown(broker: Broker) -> None:
    """A LeaveGroup with an unknown instance id gets UNKNOWN_MEMBER_ID in the member's part."""
    member = await only_member(broker, broker.name("group"))
    response = await leave(member.connection, member.group, "", "unknown")
    response.expect(error_code="UNKNOWN_MEMBER_ID", group_instance_id="unknown")


@check(
    "group/static-leave-fenced",
    "KIP-345",
    needs={**STATIC, "LeaveGroup": 3},
)
async def static_leave_fenced(broker: Broker) -> None:
    """A LeaveGroup with an instance id and another member's id gets FENCED_INSTANCE_ID."""
    member = await only_member(broker, broker.name("group"), instance_id="i")
    response = await leave(member.connection, member.group, "other", "i")
    response.expect(error_code="FENCED_INSTANCE_ID")
    (await member.heartbeat()).expect(error_code="NONE")


CHECKS: Final[tuple[Check, ...]] = (
    static_joins_at_once,
    static_instance_shown,
    static_replaces,
    static_no_rebalance,
    static_fenced,
    static_leader_skips_assignment,
    static_leave,
    static_leave_unknown,
    static_leave_fenced,
)
