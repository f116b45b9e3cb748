"""SyncGroup of classic groups: assignments, waiting for the leader, errors."""

from __future__ import annotations

from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.groups import MEMBERS, joined_pair, new_member, only_member, pair
from barnabas.conform.operations import Now


@check(
    "group/sync-assignments",
    "SyncGroupRequest.json, SyncGroupResponse.json",
    needs=MEMBERS,
    each="SyncGroup",
)
async def sync_assignments(broker: Broker) -> None:
    """Each member gets the bytes that the leader assigned to it, unchanged."""
    leader, follower = await joined_pair(broker, broker.name("group"), protocol_type="bytes")
    assignments = {leader.id: b"\0of the leader\xff", follower.id: b"of the follower"}
    (await leader.sync(assignments)).expect(error_code="NONE", assignment=assignments[leader.id])
    (await follower.sync()).expect(error_code="NONE", assignment=assignments[follower.id])


@check(
    "group/sync-waits",
    "GroupMetadataManager.classicGroupSync",
    needs=MEMBERS,
)
async def sync_waits(broker: Broker) -> None:
    """A follower's SyncGroup is answered as soon as the leader has sent its own, and not before."""
    leader, follower = await joined_pair(broker, broker.name("group"))
    await follower.request_sync()
    early = await follower.connection.response_within(0.3)
    if early is not None:
        raise early.failed("", "no response until the leader has synced", "a response")
    await leader.sync({leader.id: b"leader", follower.id: b"follower"})
    (await follower.connection.read()).expect(error_code="NONE", assignment=b"follower")


@check(
    "group/sync-wrong-generation",
    "GroupMetadataManager.validateSyncGroup",
    needs=MEMBERS,
)
async def sync_wrong_generation(broker: Broker) -> None:
    """A SyncGroup of another generation gets ILLEGAL_GENERATION."""
    member = await new_member(broker, broker.name("group"))
    await member.join()
    for generation in (member.generation - 1, member.generation + 1):
        response = await member.sync({member.id: b""}, generation_id=generation)
        response.expect(error_code="ILLEGAL_GENERATION")


@check(
    "group/sync-unknown-member",
    "GroupMetadataManager.validateSyncGroup",
    needs=MEMBERS,
)
async def sync_unknown_member(broker: Broker) -> None:
    """A SyncGroup of a stranger gets UNKNOWN_MEMBER_ID, whether the group exists or not."""
    member = await new_member(broker, broker.name("group"))
    (await member.sync(member_id="stranger", generation_id=1)).expect(
        error_code="UNKNOWN_MEMBER_ID"
    )
    await member.join()
    (await member.sync(member_id="stranger")).expect(error_code="UNKNOWN_MEMBER_ID")


@check(
    "group/sync-protocol-named",
    "KIP-559",
    needs={**MEMBERS, "SyncGroup": 5},
    each="SyncGroup",
)
async def sync_protocol_named(broker: Broker) -> None:
    """A SyncGroup response names protocol type and protocol."""
    member = await new_member(broker, broker.name("group"))
    await member.join()
    response = await member.sync({member.id: b"all"})
    response.expect(error_code="NONE", protocol_type="consumer", protocol_name="range")


@check(
    "group/sync-protocol-other",
    "KIP-559",
    needs={**MEMBERS, "SyncGroup": 5},
)
async def sync_protocol_other(broker: Broker) -> None:
    """A SyncGroup with another protocol or protocol type gets INCONSISTENT_GROUP_PROTOCOL."""
    member = await new_member(broker, broker.name("group"))
    await member.join()
    for field in ("protocol_type", "protocol_name"):
        response = await member.sync({member.id: b"all"}, **{field: "other"})
        response.expect(error_code="INCONSISTENT_GROUP_PROTOCOL")


@check(
    "group/sync-rebalance",
    "GroupMetadataManager.classicGroupSync",
    needs=MEMBERS,
)
async def sync_rebalance(broker: Broker) -> None:
    """A SyncGroup gets REBALANCE_IN_PROGRESS while the coordinator waits for members to join again."""
    member = await only_member(broker, broker.name("group"))
    newcomer = await new_member(broker, member.group)
    await newcomer.request_join()
    await member.expect_rebalance()
    (await member.sync({member.id: b"all"})).expect(error_code="REBALANCE_IN_PROGRESS")


@check(
    "group/sync-interrupted",
    "GroupMetadataManager.resetAndPropagateAssignmentWithError",
    needs=MEMBERS,
)
async def sync_interrupted(broker: Broker) -> None:
    """A follower that waits for the leader's SyncGroup gets REBALANCE_IN_PROGRESS if another member joins."""
    _, follower = await joined_pair(broker, broker.name("group"))
    await follower.request_sync()
    newcomer = await new_member(broker, follower.group)
    await newcomer.request_join()
    (await follower.connection.read()).expect(error_code="REBALANCE_IN_PROGRESS")


@check(
    "group/sync-again",
    "GroupMetadataManager.classicGroupSync",
    level=SHOULD,
    needs=MEMBERS,
)
async def sync_again(broker: Broker) -> None:
    """A member of a stable group that repeats its SyncGroup gets its current assignment again."""
    leader, follower = await pair(broker, broker.name("group"))
    (await follower.sync()).expect(error_code="NONE", assignment=b"follower")
    (await leader.sync({leader.id: b"new"})).expect(error_code="NONE", assignment=b"leader")


@check(
    "group/sync-no-assignment",
    "GroupMetadataManager.classicGroupSync",
    level=SHOULD,
    needs=MEMBERS,
)
async def sync_no_assignment(broker: Broker) -> None:
    """A member to which the leader assigns nothing gets an empty assignment."""
    leader, follower = await joined_pair(broker, broker.name("group"))
    (await leader.sync({leader.id: b"all"})).expect(error_code="NONE", assignment=b"all")
    (await follower.sync()).expect(error_code="NONE", assignment=b"")


@check(
    "group/sync-never",
    "KAFKA-12890",
    needs={**MEMBERS, "JoinGroup": 1},
    since="2.8.1",
)
async def sync_never(broker: Broker) -> None:
    """If the leader does not sync within the rebalance timeout, followers get REBALANCE_IN_PROGRESS."""
    leader, follower = await joined_pair(broker, broker.name("group"), rebalance_ms=1500)
    await follower.request_sync()
    begun = await Now()
    response = await follower.connection.read()
    response.expect(error_code="REBALANCE_IN_PROGRESS")
    waited = await Now() - begun
    if waited > 6:
        expected = "a response after 1.5 s, the rebalance timeout"
        raise response.failed("", expected, f"{waited:.1f} s")
    (await leader.heartbeat()).expect(error_code="UNKNOWN_MEMBER_ID")
    (await follower.join()).expect(leader=follower.id)


CHECKS: Final[tuple[Check, ...]] = (
    sync_assignments,
    sync_waits,
    sync_wrong_generation,
    sync_unknown_member,
    sync_protocol_named,
    sync_protocol_other,
    sync_rebalance,
    sync_interrupted,
    sync_again,
    sync_no_assignment,
    sync_never,
)
