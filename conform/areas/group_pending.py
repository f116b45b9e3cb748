"""Classic groups: members that have an id and have not joined yet (KIP-394)."""

from __future__ import annotations

from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.commits import COMMITS, as_member, commit
from barnabas.conform.groups import MEMBERS, Member, new_member
from barnabas.conform.response import Response

NEEDS: Final = {**MEMBERS, "JoinGroup": 4, "LeaveGroup": 0}
"""From this version of JoinGroup on a new member gets an id first."""


async def _join(member: Member) -> Response:
    return await member.connection.send("JoinGroup", **member.join_fields())


async def _pending(broker: Broker) -> Member:
    """Return a member whose first JoinGroup got it an id."""
    member = await new_member(broker, broker.name("group"), generation=0)
    member.id = (await _join(member)).expect(error_code="MEMBER_ID_REQUIRED")["member_id"]
    return member


@check(
    "group/pending-member",
    "KIP-394; ClassicGroup.isPendingMember",
    level=SHOULD,
    needs={**NEEDS, **COMMITS},
)
async def pending_member(broker: Broker) -> None:
    """A member that has an id and has not joined gets UNKNOWN_MEMBER_ID, but for JoinGroup and LeaveGroup."""
    member = await _pending(broker)
    (await member.sync()).expect(error_code="UNKNOWN_MEMBER_ID")
    (await member.heartbeat()).expect(error_code="UNKNOWN_MEMBER_ID")
    topic = await broker.topic()
    part = await commit(broker, member.group, topic, 5, member=as_member(member))
    part.at("partitions[0]").expect(error_code="UNKNOWN_MEMBER_ID")


@check("group/pending-leaves", "KIP-394; ClassicGroup.isPendingMember", level=SHOULD, needs=NEEDS)
async def pending_leaves(broker: Broker) -> None:
    """A member that has an id and has not joined may leave, and can't join with the id afterwards."""
    member = await _pending(broker)
    (await member.leave()).expect(error_code="NONE")
    (await _join(member)).expect(error_code="UNKNOWN_MEMBER_ID")


CHECKS: Final[tuple[Check, ...]] = (pending_member, pending_leaves)
