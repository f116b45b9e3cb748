"""Classic groups: members that join at the same time, repeat requests, and disappear."""

from __future__ import annotations

from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import Check, check
from barnabas.conform.groups import MEMBERS, Member, joined_pair, new_member, only_member, settle
from barnabas.conform.response import Response
from barnabas.conform.verdicts import Skipped


def _expect_one_group(responses: list[Response], members: list[Member]) -> None:
    """Expect one generation with one leader, which has the list of all members."""
    leader = responses[0]["leader"]
    generation = responses[0]["generation_id"]
    for member, response in zip(members, responses, strict=True):
        response.expect(leader=leader, generation_id=generation)
        expected = {other.id for other in members} if member.id == leader else set()
        received = [row["member_id"] for row in response["members"]]
        if set(received) != expected or len(received) != len(expected):
            raise response.failed("members", f"{expected}", f"{received}")


@check(
    "group/join-together",
    "KIP-62",
    needs=MEMBERS,
)
async def join_together(broker: Broker) -> None:
    """Two members that join an empty group at once end in one generation with one leader."""
    group = broker.name("group")
    members = [await new_member(broker, group) for _ in range(2)]
    for member in members:
        await member.request_join()
    _expect_one_group(await settle(*members), members)


@check(
    "group/join-many",
    "KIP-62",
    needs=MEMBERS,
)
async def join_many(broker: Broker) -> None:
    """Six members that join a group of one at once end with it in one generation with one leader."""
    first = await only_member(broker, broker.name("group"))
    others = [await new_member(broker, first.group) for _ in range(6)]
    for member in others:
        await member.request_join()
    await first.expect_rebalance()
    await first.request_join()
    _expect_one_group(await settle(first, *others), [first, *others])


@check(
    "group/join-repeated",
    "GroupMetadataManager.classicGroupJoinExistingMember",
    needs=MEMBERS,
)
async def join_repeated(broker: Broker) -> None:
    """A member that loses its connection while it waits joins again with its id, and is counted once."""
    first = await only_member(broker, broker.name("group"))
    second = await new_member(broker, first.group)
    await second.request_join()
    await first.expect_rebalance()
    if not second.id:
        raise Skipped("the coordinator gives a member no id before the others have joined")
    await second.connection.close()
    second.connection = await broker.coordinator(first.group, fresh=True)
    await second.request_join()
    await first.request_join()
    _expect_one_group(await settle(first, second), [first, second])


@check(
    "group/sync-repeated",
    "GroupMetadataManager.classicGroupSync",
    needs=MEMBERS,
)
async def sync_repeated(broker: Broker) -> None:
    """A follower that loses its connection while it waits for the leader syncs again on another one."""
    leader, follower = await joined_pair(broker, broker.name("group"))
    await follower.request_sync()
    await follower.connection.close()
    follower.connection = await broker.coordinator(leader.group, fresh=True)
    await follower.request_sync()
    (await leader.sync({follower.id: b"follower"})).expect(error_code="NONE")
    (await follower.connection.read()).expect(error_code="NONE", assignment=b"follower")


@check(
    "group/reconnect",
    "KIP-62",
    needs=MEMBERS,
)
async def reconnect(broker: Broker) -> None:
    """A member stays in the group when its connection is closed, and goes on over another one."""
    member = await only_member(broker, broker.name("group"))
    await member.connection.close()
    member.connection = await broker.coordinator(member.group, fresh=True)
    (await member.heartbeat()).expect(error_code="NONE")
    (await member.sync({member.id: b"all"})).expect(error_code="NONE", assignment=b"all")


@check(
    "group/lost-while-joining",
    "redpanda#3300; KAFKA-12890",
    needs={**MEMBERS, "JoinGroup": 1},
)
async def lost_while_joining(broker: Broker) -> None:
    """A member that disconnects while it waits to join is removed, and the group goes on without it."""
    first = await only_member(broker, broker.name("group"), rebalance_ms=1500, session_ms=6000)
    lost = await new_member(broker, first.group, rebalance_ms=1500, session_ms=6000)
    await lost.request_join()
    await first.expect_rebalance()
    await lost.connection.close()
    response = await first.join()
    if len(response["members"]) > 1:
        (await first.sync({first.id: b"all"})).expect(error_code="NONE")
        await first.expect_rebalance()
        response = await first.join()
    _expect_one_group([response], [first])


CHECKS: Final[tuple[Check, ...]] = (
    join_together,
    join_many,
    join_repeated,
    sync_repeated,
    reconnect,
    lost_while_joining,
)
