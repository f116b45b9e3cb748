"""JoinGroup of classic groups: member ids, generations, waiting for members."""

from __future__ import annotations

from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.expectations import Not
from barnabas.conform.groups import (
    MEMBERS,
    leader_response,
    new_member,
    only_member,
    pair,
    rejoin,
    subscription,
)
from barnabas.conform.operations import Now


@check(
    "group/join",
    "JoinGroupRequest.json, JoinGroupResponse.json",
    needs={"JoinGroup": 0},
    each="JoinGroup",
)
async def join(broker: Broker) -> None:
    """A member joins an empty group in each offered version, and is its leader and only member."""
    member = await new_member(broker, broker.name("group"))
    response = await member.join()
    response.expect(member_id=Not(""), leader=response["member_id"], protocol_name="range")
    if [row["member_id"] for row in response["members"]] != [member.id]:
        raise response.failed("members", f"only {member.id!r}", f"{response['members']}")


@check(
    "group/member-id-required",
    "KIP-394",
    level=SHOULD,
    needs={"JoinGroup": 4},
)
async def member_id_required(broker: Broker) -> None:
    """A JoinGroup without a member id gets MEMBER_ID_REQUIRED and an id, with which the next one succeeds."""
    member = await new_member(broker, broker.name("group"))
    first = await member.connection.send("JoinGroup", None, **member.join_fields())
    first.expect(error_code="MEMBER_ID_REQUIRED", member_id=Not(""))
    member.id = first["member_id"]
    (await member.join()).expect(member_id=first["member_id"])


@check(
    "group/leader-gets-members",
    "JoinGroupResponse.json",
    needs=MEMBERS,
)
async def leader_gets_members(broker: Broker) -> None:
    """The leader of two members gets the list of both, and the other member gets an empty list."""
    first = await only_member(broker, broker.name("group"))
    second = await new_member(broker, first.group)
    await second.request_join()
    responses = await rejoin(second, first)
    leader = responses[first.id]["leader"]
    for member, response in responses.items():
        response.expect(leader=leader, generation_id=first.generation)
        expected = {first.id, second.id} if member == leader else set()
        received = {row["member_id"] for row in response["members"]}
        if received != expected:
            raise response.failed("members", f"{expected}", f"{received}")


@check(
    "group/generation",
    "ClassicGroup.initNextGeneration",
    level=SHOULD,
    needs=MEMBERS,
)
async def generation(broker: Broker) -> None:
    """The first generation is 1, and the next one is 2."""
    first = await new_member(broker, broker.name("group"))
    (await first.join()).expect(generation_id=1)
    (await first.sync({first.id: b"all"})).expect(error_code="NONE")
    second = await new_member(broker, first.group)
    await second.request_join()
    for response in (await rejoin(second, first)).values():
        response.expect(generation_id=2)


@check(
    "group/session-timeout-bounds",
    "group.min.session.timeout.ms, group.max.session.timeout.ms",
    needs={"JoinGroup": 0},
)
async def session_timeout_bounds(broker: Broker) -> None:
    """Session timeouts of 1 ms and of twelve days get INVALID_SESSION_TIMEOUT."""
    for session_ms in (1, 2**30):
        member = await new_member(broker, broker.name("group"), session_ms=session_ms)
        (await member.try_join()).expect(error_code="INVALID_SESSION_TIMEOUT")


@check(
    "group/unknown-member",
    "ClassicGroup, GroupMetadataManager.classicGroupJoinExistingMember",
    needs=MEMBERS,
)
async def unknown_member(broker: Broker) -> None:
    """A JoinGroup with an id that the coordinator did not give gets UNKNOWN_MEMBER_ID."""
    group = broker.name("group")
    stranger = await new_member(broker, group, id="stranger")
    (await stranger.try_join()).expect(error_code="UNKNOWN_MEMBER_ID")
    await only_member(broker, group)
    (await stranger.try_join()).expect(error_code="UNKNOWN_MEMBER_ID")


@check(
    "group/empty-id",
    "GroupCoordinatorService.isGroupIdNotEmpty",
    needs={"JoinGroup": 0},
)
async def empty_id(broker: Broker) -> None:
    """A JoinGroup of a group with an empty name gets INVALID_GROUP_ID."""
    member = await new_member(broker, broker.name("group"))
    member.group = ""
    (await member.try_join()).expect(error_code="INVALID_GROUP_ID")


@check(
    "group/empty-id-of-member",
    "GroupCoordinatorService.isGroupIdNotEmpty",
    level=SHOULD,
    needs=MEMBERS,
)
async def empty_id_of_member(broker: Broker) -> None:
    """SyncGroup and Heartbeat of a group with an empty name get INVALID_GROUP_ID."""
    member = await new_member(broker, broker.name("group"), id="member", generation=1)
    member.group = ""
    (await member.sync()).expect(error_code="INVALID_GROUP_ID")
    (await member.heartbeat()).expect(error_code="INVALID_GROUP_ID")


@check(
    "group/id-any",
    "GroupCoordinatorService.isGroupIdNotEmpty",
    level=SHOULD,
    needs=MEMBERS,
)
async def id_any(broker: Broker) -> None:
    """A group may have any name that is not empty: spaces, slashes, letters beyond ASCII."""
    for suffix in (" /.:", "\u00e4\u4e2d"):
        member = await new_member(broker, broker.name("group") + suffix)
        broker.created.append(("group", member.group))
        await member.join()


@check(
    "group/join-waits",
    "KIP-62",
    needs=MEMBERS,
)
async def join_waits(broker: Broker) -> None:
    """A JoinGroup of a second member is answered as soon as the first has joined again, and not before."""
    first = await only_member(broker, broker.name("group"))
    second = await new_member(broker, first.group)
    await second.request_join()
    await first.expect_rebalance()
    early = await second.connection.response_within(0.3)
    if early is not None:
        raise early.failed("", "no response until the first member has joined", "a response")
    again = await first.join()
    (await second.join_response()).expect(error_code="NONE", generation_id=again["generation_id"])


@check(
    "group/rebalance-timeout",
    "KIP-62",
    needs={**MEMBERS, "JoinGroup": 1},
)
async def rebalance_timeout(broker: Broker) -> None:
    """A member that does not join again within its rebalance timeout is removed, and the others go on."""
    first = await only_member(broker, broker.name("group"), rebalance_ms=1000)
    second = await new_member(broker, first.group, rebalance_ms=1000)
    begun = await Now()
    await second.request_join()
    response = (await second.join_response()).expect(error_code="NONE")
    response.expect(leader=second.id)
    waited = await Now() - begun
    if waited > 5:
        raise response.failed("", "a response after 1 s, the rebalance timeout", f"{waited:.1f} s")
    (await first.heartbeat()).expect(error_code="UNKNOWN_MEMBER_ID")


@check(
    "group/rejoin-follower",
    "GroupMetadataManager.classicGroupJoinExistingMember",
    level=SHOULD,
    needs=MEMBERS,
)
async def rejoin_follower(broker: Broker) -> None:
    """A follower of a stable group that joins again without a change gets the current generation at once."""
    _, follower = await pair(broker, broker.name("group"))
    current = follower.generation
    (await follower.join()).expect(generation_id=current)


@check(
    "group/rejoin-leader",
    "GroupMetadataManager.classicGroupJoinExistingMember",
    needs=MEMBERS,
)
async def rejoin_leader(broker: Broker) -> None:
    """A leader of a stable group that joins again starts a rebalance, as after a change of topics."""
    leader, follower = await pair(broker, broker.name("group"))
    before = leader.generation
    await leader.request_join()
    for response in (await rejoin(leader, follower)).values():
        if response["generation_id"] <= before:
            raise response.failed(
                "generation_id", f"above {before}", f"{response['generation_id']}"
            )


@check(
    "group/rejoin-changed",
    "GroupMetadataManager.classicGroupJoinExistingMember",
    needs=MEMBERS,
)
async def rejoin_changed(broker: Broker) -> None:
    """A follower that joins again with other metadata starts a rebalance; the leader gets the metadata."""
    leader, follower = await pair(broker, broker.name("group"))
    changed = subscription("another topic")
    follower.protocols = {"range": changed}
    await follower.request_join()
    response = leader_response(await rejoin(follower, leader))
    received = {row["member_id"]: row["metadata"] for row in response["members"]}
    if received.get(follower.id) != changed:
        raise response.failed("members", f"{changed!r} of {follower.id!r}", f"{received}")


CHECKS: Final[tuple[Check, ...]] = (
    join,
    member_id_required,
    leader_gets_members,
    generation,
    session_timeout_bounds,
    unknown_member,
    empty_id,
    empty_id_of_member,
    id_any,
    join_waits,
    rebalance_timeout,
    rejoin_follower,
    rejoin_leader,
    rejoin_changed,
)
