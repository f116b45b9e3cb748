"""Classic groups: heartbeats, sessions, leaving."""

from __future__ import annotations

from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.groups import (
    MEMBERS,
    joined_pair,
    leader_response,
    leave,
    new_member,
    only_member,
    pair,
    rejoin,
)
from barnabas.conform.operations import Now, Sleep

SHORTEST_SESSION_MS: Final = 6_000
"""The default of group.min.session.timeout.ms."""

LEAVING: Final = {**MEMBERS, "LeaveGroup": 0}


@check(
    "group/heartbeat",
    "HeartbeatRequest.json, HeartbeatResponse.json",
    needs=MEMBERS,
    each="Heartbeat",
)
async def heartbeat(broker: Broker) -> None:
    """A heartbeat of a member of a stable group gets no error."""
    member = await only_member(broker, broker.name("group"))
    (await member.heartbeat()).expect(error_code="NONE")


@check(
    "group/heartbeat-old-generation",
    "GroupMetadataManager.validateClassicGroupHeartbeat",
    needs=MEMBERS,
)
async def heartbeat_old_generation(broker: Broker) -> None:
    """A heartbeat of another generation gets ILLEGAL_GENERATION."""
    member = await only_member(broker, broker.name("group"))
    for generation in (member.generation - 1, member.generation + 1):
        response = await member.heartbeat(generation_id=generation)
        response.expect(error_code="ILLEGAL_GENERATION")


@check(
    "group/heartbeat-unknown-member",
    "GroupMetadataManager.validateClassicGroupHeartbeat",
    needs=MEMBERS,
)
async def heartbeat_unknown_member(broker: Broker) -> None:
    """A heartbeat of a stranger gets UNKNOWN_MEMBER_ID, whether the group exists or not."""
    stranger = await new_member(broker, broker.name("group"), id="stranger", generation=1)
    (await stranger.heartbeat()).expect(error_code="UNKNOWN_MEMBER_ID")
    await only_member(broker, stranger.group)
    (await stranger.heartbeat()).expect(error_code="UNKNOWN_MEMBER_ID")


@check(
    "group/heartbeat-before-sync",
    "apache/kafka#8834; GroupMetadataManager.classicGroupHeartbeatToClassicGroup",
    level=SHOULD,
    needs=MEMBERS,
    since="2.6",
)
async def heartbeat_before_sync(broker: Broker) -> None:
    """A heartbeat between joining and syncing gets no error."""
    for member in await joined_pair(broker, broker.name("group")):
        (await member.heartbeat()).expect(error_code="NONE")


@check(
    "group/heartbeat-rebalance",
    "KIP-62",
    needs=MEMBERS,
)
async def heartbeat_rebalance(broker: Broker) -> None:
    """While another member joins, heartbeats of present members get REBALANCE_IN_PROGRESS."""
    leader, follower = await pair(broker, broker.name("group"))
    newcomer = await new_member(broker, leader.group)
    await newcomer.request_join()
    await leader.expect_rebalance()
    (await follower.heartbeat()).expect(error_code="REBALANCE_IN_PROGRESS")


@check(
    "group/session-expires",
    "KIP-62",
    needs={**MEMBERS, "JoinGroup": 1},
)
async def session_expires(broker: Broker) -> None:
    """A member that is silent for its session timeout is removed, and joins that wait for it go on.

    Takes 6 s: brokers refuse shorter sessions by default.
    """
    silent = await only_member(broker, broker.name("group"), session_ms=SHORTEST_SESSION_MS)
    begun = await Now()
    newcomer = await new_member(broker, silent.group)
    await newcomer.request_join()
    response = (await newcomer.join_response(12)).expect(error_code="NONE", leader=newcomer.id)
    waited = await Now() - begun
    if not 4 < waited < 12:
        expected = "a response after 6 s, the session timeout"
        raise response.failed("", expected, f"{waited:.1f} s")
    (await silent.heartbeat()).expect(error_code="UNKNOWN_MEMBER_ID")


@check(
    "group/session-kept",
    "KIP-62",
    needs=MEMBERS,
)
async def session_kept(broker: Broker) -> None:
    """A member that sends heartbeats stays in the group beyond its session timeout.

    Takes 7 s: brokers refuse sessions shorter than 6 s by default.
    """
    member = await only_member(broker, broker.name("group"), session_ms=SHORTEST_SESSION_MS)
    for _ in range(4):
        await Sleep(1.75)
        (await member.heartbeat()).expect(error_code="NONE")


@check(
    "group/leave",
    "LeaveGroupRequest.json",
    needs=LEAVING,
    each="LeaveGroup",
)
async def leave_group(broker: Broker) -> None:
    """A member that leaves is unknown from then on."""
    member = await only_member(broker, broker.name("group"))
    (await member.leave()).expect(error_code="NONE")
    (await member.heartbeat()).expect(error_code="UNKNOWN_MEMBER_ID")


@check(
    "group/leave-unknown",
    "LeaveGroupResponse.json; KIP-345",
    needs=LEAVING,
    each="LeaveGroup",
)
async def leave_unknown(broker: Broker) -> None:
    """A stranger that leaves gets UNKNOWN_MEMBER_ID, from v3 on in its own part, and nobody rebalances."""
    member = await only_member(broker, broker.name("group"))
    response = await leave(member.connection, member.group, "stranger")
    response.expect(error_code="UNKNOWN_MEMBER_ID")
    (await member.heartbeat()).expect(error_code="NONE")


@check(
    "group/leave-several",
    "KIP-345",
    needs={**LEAVING, "LeaveGroup": 3},
)
async def leave_several(broker: Broker) -> None:
    """A LeaveGroup of several members removes them, and the response has an error code for each."""
    leader, follower = await pair(broker, broker.name("group"))
    ids = [leader.id, "stranger", follower.id]
    response = await leader.connection.send(
        "LeaveGroup", group_id=leader.group, members=[{"member_id": member} for member in ids]
    )
    response.expect(error_code="NONE")
    rows = {row["member_id"]: index for index, row in enumerate(response["members"])}
    errors = ("NONE", "UNKNOWN_MEMBER_ID", "NONE")
    for member, error in zip(ids, errors, strict=True):
        response.expect(**{f"members[{rows.get(member, 99)}].error_code": error})
    for gone in (leader, follower):
        (await gone.heartbeat()).expect(error_code="UNKNOWN_MEMBER_ID")


@check(
    "group/leave-rebalances",
    "KIP-62",
    needs=LEAVING,
)
async def leave_rebalances(broker: Broker) -> None:
    """The members that remain get REBALANCE_IN_PROGRESS when one leaves, and form a new generation."""
    leader, follower = await pair(broker, broker.name("group"))
    before = leader.generation
    (await leader.leave()).expect(error_code="NONE")
    await follower.expect_rebalance()
    response = await follower.join()
    response.expect(leader=follower.id)
    if response["generation_id"] <= before:
        raise response.failed("generation_id", f"above {before}", f"{response['generation_id']}")


@check(
    "group/leave-while-joining",
    "KIP-62",
    needs=LEAVING,
)
async def leave_while_joining(broker: Broker) -> None:
    """A JoinGroup that waits for a member is answered at once when the member leaves."""
    member = await only_member(broker, broker.name("group"))
    newcomer = await new_member(broker, member.group)
    await newcomer.request_join()
    await member.expect_rebalance()
    await member.leave()
    (await newcomer.join_response(5)).expect(error_code="NONE", leader=newcomer.id)


@check(
    "group/rejoin-after-leave",
    "KIP-62",
    needs=LEAVING,
)
async def rejoin_after_leave(broker: Broker) -> None:
    """A member that has left joins again as a new one."""
    leader, follower = await pair(broker, broker.name("group"))
    await follower.leave()
    follower.id = ""
    await follower.request_join()
    response = leader_response(await rejoin(follower, leader))
    received = [row["member_id"] for row in response["members"]]
    if sorted(received) != sorted((leader.id, follower.id)):
        raise response.failed("members", f"{leader.id!r} and {follower.id!r}", f"{received}")


CHECKS: Final[tuple[Check, ...]] = (
    heartbeat,
    heartbeat_old_generation,
    heartbeat_unknown_member,
    heartbeat_before_sync,
    heartbeat_rebalance,
    session_expires,
    session_kept,
    leave_group,
    leave_unknown,
    leave_several,
    leave_rebalances,
    leave_while_joining,
    rejoin_after_leave,
)
