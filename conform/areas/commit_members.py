"""OffsetCommit in groups with members: generations, strangers, rebalances."""

from __future__ import annotations

from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.commits import COMMITS, as_member, commit, committed
from barnabas.conform.expectations import OneOf
from barnabas.conform.groups import MEMBERS, Member, new_member, only_member
from barnabas.conform.response import Response

NEEDS: Final = {**MEMBERS, **COMMITS}


async def _commit(
    broker: Broker, member: Member, topic: str, offset: int = 5, **changes: object
) -> Response:
    """Commit as a member, with changes of the fields that name it; return the partition's part."""
    fields = {**as_member(member), **changes}
    response = await commit(broker, member.group, topic, offset, member=fields)
    return response.at("partitions[0]")


@check(
    "commit/member",
    "KIP-62",
    needs=NEEDS,
    each="OffsetCommit",
)
async def member_commits(broker: Broker) -> None:
    """A member commits offsets in its generation."""
    topic = await broker.topic()
    member = await only_member(broker, broker.name("group"))
    (await _commit(broker, member, topic)).expect(error_code="NONE")
    (await committed(broker, member.group, topic)).expect(committed_offset=5)


@check(
    "commit/old-generation",
    "ClassicGroup.validateOffsetCommit",
    needs=NEEDS,
)
async def old_generation(broker: Broker) -> None:
    """A commit of another generation gets ILLEGAL_GENERATION, and is not kept."""
    topic = await broker.topic()
    member = await only_member(broker, broker.name("group"))
    for generation in (member.generation - 1, member.generation + 1):
        response = await _commit(broker, member, topic, generation_id_or_member_epoch=generation)
        response.expect(error_code="ILLEGAL_GENERATION")
    (await committed(broker, member.group, topic)).expect(committed_offset=-1)


@check(
    "commit/stranger",
    "ClassicGroup.validateOffsetCommit",
    needs=NEEDS,
)
async def stranger(broker: Broker) -> None:
    """A commit of an unknown member gets UNKNOWN_MEMBER_ID, and is not kept."""
    topic = await broker.topic()
    member = await only_member(broker, broker.name("group"))
    response = await _commit(broker, member, topic, member_id="stranger")
    response.expect(error_code="UNKNOWN_MEMBER_ID")
    (await committed(broker, member.group, topic)).expect(committed_offset=-1)


@check(
    "commit/nobody-in-live-group",
    "ClassicGroup.validateOffsetCommit",
    needs=NEEDS,
)
async def nobody_in_live_group(broker: Broker) -> None:
    """A commit from outside of a group that has members gets UNKNOWN_MEMBER_ID, and is not kept."""
    topic = await broker.topic()
    member = await only_member(broker, broker.name("group"))
    response = await commit(broker, member.group, topic, 5)
    response.expect(**{"partitions[0].error_code": "UNKNOWN_MEMBER_ID"})
    (await committed(broker, member.group, topic)).expect(committed_offset=-1)


@check(
    "commit/unknown-group-generation",
    "GroupMetadataManager, OffsetMetadataManager.validateOffsetCommit",
    level=SHOULD,
    needs=COMMITS,
)
async def unknown_group_generation(broker: Broker) -> None:
    """A generation gets ILLEGAL_GENERATION in an unknown group; from v9 on also GROUP_ID_NOT_FOUND."""
    newest = broker.version("OffsetCommit", 2)
    topic = await broker.topic()
    fields = {"member_id": "stranger", "generation_id_or_member_epoch": 3}
    response = await commit(broker, broker.name("group"), topic, 5, member=fields)
    unknown = OneOf("ILLEGAL_GENERATION", "GROUP_ID_NOT_FOUND")
    error = unknown if newest >= 9 else "ILLEGAL_GENERATION"
    response.expect(**{"partitions[0].error_code": error})


@check(
    "commit/empty-group",
    "ClassicGroup.validateOffsetCommit",
    needs={**NEEDS, "LeaveGroup": 0},
)
async def empty_group(broker: Broker) -> None:
    """After the last member has left, offsets are kept, and commits from outside are accepted."""
    topic = await broker.topic()
    member = await only_member(broker, broker.name("group"))
    await _commit(broker, member, topic)
    await member.leave()
    (await committed(broker, member.group, topic)).expect(committed_offset=5)
    response = await commit(broker, member.group, topic, 8)
    response.expect(**{"partitions[0].error_code": "NONE"})
    (await committed(broker, member.group, topic)).expect(committed_offset=8)


@check(
    "commit/during-rebalance",
    "ClassicGroup.validateOffsetCommit",
    needs=NEEDS,
)
async def during_rebalance(broker: Broker) -> None:
    """A member commits while another one joins, before it joins again itself."""
    topic = await broker.topic()
    member = await only_member(broker, broker.name("group"))
    newcomer = await new_member(broker, member.group)
    await newcomer.request_join()
    await member.expect_rebalance()
    (await _commit(broker, member, topic)).expect(error_code="NONE")
    (await committed(broker, member.group, topic)).expect(committed_offset=5)


@check(
    "commit/before-sync",
    "ClassicGroup.validateOffsetCommit",
    needs=NEEDS,
)
async def before_sync(broker: Broker) -> None:
    """A commit of a member that has joined gets REBALANCE_IN_PROGRESS until the leader has synced."""
    topic = await broker.topic()
    member = await new_member(broker, broker.name("group"))
    await member.join()
    (await _commit(broker, member, topic)).expect(error_code="REBALANCE_IN_PROGRESS")
    await member.sync({member.id: b"all"})
    (await _commit(broker, member, topic)).expect(error_code="NONE")


@check(
    "commit/fenced-instance",
    "KIP-345",
    needs={**NEEDS, "JoinGroup": 5, "OffsetCommit": 7},
)
async def fenced_instance(broker: Broker) -> None:
    """A commit with the old id of a static member that was replaced gets FENCED_INSTANCE_ID."""
    topic = await broker.topic()
    old = await only_member(broker, broker.name("group"), instance_id="i")
    await (await new_member(broker, old.group, instance_id="i")).join()
    (await _commit(broker, old, topic)).expect(error_code="FENCED_INSTANCE_ID")


CHECKS: Final[tuple[Check, ...]] = (
    member_commits,
    old_generation,
    stranger,
    nobody_in_live_group,
    unknown_group_generation,
    empty_group,
    during_rebalance,
    before_sync,
    fenced_instance,
)
