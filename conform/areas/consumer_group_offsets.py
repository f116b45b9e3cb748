"""Consumer groups of KIP-848: committed offsets, and member epochs in OffsetCommit and OffsetFetch."""

from __future__ import annotations

from typing import Any, Final

from barnabas.conform.areas.offset_delete import delete
from barnabas.conform.areas.offset_fetch import end_transaction, fetch_stable, pending_commit
from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.commits import commit, committed, fetch_offsets
from barnabas.conform.consumer_members import (
    CONSUMER,
    ConsumerMember,
    new_consumer,
    only_consumer,
    second_consumer,
)
from barnabas.conform.response import Response

NEEDS: Final = {**CONSUMER, "OffsetCommit": 9, "OffsetFetch": 9}
"""From these versions on requests have member epochs."""


async def _commit(broker: Broker, member: ConsumerMember, topic: str, **changes: Any) -> Response:
    """Commit offset 5 as a member, with changes of the fields that name it; return the partition's part."""
    fields = {"member_id": member.id, "generation_id_or_member_epoch": member.epoch, **changes}
    response = await commit(broker, member.group, topic, 5, member=fields)
    return response.at("partitions[0]")


async def _fetch_group(
    broker: Broker, member: ConsumerMember, topic: str, **changes: Any
) -> Response:
    """Fetch offsets as a member, with changes of the fields that name it; return the group's part."""
    fields = {"member_id": member.id, "member_epoch": member.epoch, **changes}
    return await fetch_offsets(broker, member.group, {topic: [0]}, **fields)


@check(
    "consumer-group/commit",
    "KIP-848",
    needs=NEEDS,
)
async def member_commits(broker: Broker) -> None:
    """A member commits with its epoch."""
    topic = await broker.topic()
    member = await only_consumer(broker, topic, 1)
    (await _commit(broker, member, topic)).expect(error_code="NONE")
    (await committed(broker, member.group, topic)).expect(committed_offset=5)


@check(
    "consumer-group/commit-old-version",
    "KIP-848; ConsumerGroup.validateOffsetCommit",
    level=SHOULD,
    needs=NEEDS,
)
async def commit_old_version(broker: Broker) -> None:
    """A member that commits with a version older than 9 gets UNSUPPORTED_VERSION."""
    topic = await broker.topic()
    member = await only_consumer(broker, topic, 1)
    fields = {"member_id": member.id, "generation_id_or_member_epoch": member.epoch}
    version = broker.version("OffsetCommit", 2, 8)
    response = await commit(broker, member.group, topic, 5, version=version, member=fields)
    response.expect(**{"partitions[0].error_code": "UNSUPPORTED_VERSION"})


@check(
    "consumer-group/commit-epoch-too-new",
    "KIP-848; ConsumerGroup.validateOffsetCommit",
    needs=NEEDS,
)
async def commit_epoch_too_new(broker: Broker) -> None:
    """A commit with an epoch above the member's gets STALE_MEMBER_EPOCH, and is not kept."""
    topic = await broker.topic()
    member = await only_consumer(broker, topic, 1)
    response = await _commit(broker, member, topic, generation_id_or_member_epoch=member.epoch + 1)
    response.expect(error_code="STALE_MEMBER_EPOCH")
    (await committed(broker, member.group, topic)).expect(committed_offset=-1)


@check(
    "consumer-group/commit-lost-partition",
    "KIP-848, KIP-1251",
    needs=NEEDS,
)
async def commit_lost_partition(broker: Broker) -> None:
    """A commit with an old epoch, of a partition that the member lost since, gets STALE_MEMBER_EPOCH."""
    topic = await broker.topic(2)
    first = await only_consumer(broker, topic, 2)
    before = first.epoch
    second = await second_consumer(broker, first, topic)
    fields = {"member_id": first.id, "generation_id_or_member_epoch": before}
    lost = second.partitions[0]
    response = await commit(broker, first.group, topic, {lost: 5}, member=fields)
    response.expect(**{"partitions[0].error_code": "STALE_MEMBER_EPOCH"})


@check(
    "consumer-group/commit-kept-partition",
    "KIP-1251",
    level=SHOULD,
    needs=NEEDS,
    since="4.3.0",
)
async def commit_kept_partition(broker: Broker) -> None:
    """A commit with an old epoch, of a partition that the member has had since then, is accepted."""
    topic = await broker.topic(2)
    first = await only_consumer(broker, topic, 2)
    before = first.epoch
    await second_consumer(broker, first, topic)
    fields = {"member_id": first.id, "generation_id_or_member_epoch": before}
    remaining = first.partitions[0]
    response = await commit(broker, first.group, topic, {remaining: 5}, member=fields)
    response.expect(**{"partitions[0].error_code": "NONE"})


@check(
    "consumer-group/commit-stranger",
    "KIP-848; ConsumerGroup.validateOffsetCommit",
    needs=NEEDS,
)
async def commit_stranger(broker: Broker) -> None:
    """Commits of strangers, and from outside of a group with members, get UNKNOWN_MEMBER_ID."""
    topic = await broker.topic()
    member = await only_consumer(broker, topic, 1)
    stranger = await _commit(broker, member, topic, member_id="stranger")
    stranger.expect(error_code="UNKNOWN_MEMBER_ID")
    outside = await commit(broker, member.group, topic, 5)
    outside.expect(**{"partitions[0].error_code": "UNKNOWN_MEMBER_ID"})
    (await committed(broker, member.group, topic)).expect(committed_offset=-1)


@check(
    "consumer-group/commit-during-rebalance",
    "KIP-848",
    needs=NEEDS,
)
async def commit_during_rebalance(broker: Broker) -> None:
    """A member that has to give up a partition commits its offset before it does."""
    topic = await broker.topic(2)
    member = await only_consumer(broker, topic, 2)
    newcomer = await new_consumer(broker, member.group, [topic])
    await newcomer.join()
    fields = {"member_id": member.id, "generation_id_or_member_epoch": member.epoch}
    response = await commit(broker, member.group, topic, {0: 5, 1: 6}, member=fields)
    for index in range(2):
        response.expect(**{f"partitions[{index}].error_code": "NONE"})
    (await committed(broker, member.group, topic, 1)).expect(committed_offset=6)


@check(
    "consumer-group/fetch-offsets",
    "KIP-848; ConsumerGroup.validateOffsetFetch",
    needs=NEEDS,
)
async def fetch_offsets_as_member(broker: Broker) -> None:
    """An OffsetFetch with the member's epoch is answered; with another epoch it gets STALE_MEMBER_EPOCH."""
    topic = await broker.topic()
    member = await only_consumer(broker, topic, 1)
    await _commit(broker, member, topic)
    fetched = await committed(
        broker, member.group, topic, member_id=member.id, member_epoch=member.epoch
    )
    fetched.expect(error_code="NONE", committed_offset=5)
    stale = await _fetch_group(broker, member, topic, member_epoch=member.epoch + 1)
    stale.expect(error_code="STALE_MEMBER_EPOCH")


@check(
    "consumer-group/fetch-offsets-stranger",
    "KIP-848; ConsumerGroup.validateOffsetFetch",
    needs=NEEDS,
)
async def fetch_offsets_stranger(broker: Broker) -> None:
    """An OffsetFetch with an unknown member id gets UNKNOWN_MEMBER_ID."""
    topic = await broker.topic()
    member = await only_consumer(broker, topic, 1)
    response = await _fetch_group(broker, member, topic, member_id="stranger")
    response.expect(error_code="UNKNOWN_MEMBER_ID")


@check(
    "consumer-group/delete-offsets",
    "KIP-496, KIP-848",
    needs={**NEEDS, "OffsetDelete": 0},
)
async def delete_offsets(broker: Broker) -> None:
    """An offset of a topic to which members subscribe is not deleted: GROUP_SUBSCRIBED_TO_TOPIC."""
    topic = await broker.topic()
    member = await only_consumer(broker, topic, 1)
    await _commit(broker, member, topic)
    response = await delete(broker, member.group, topic)
    response.expect(**{"topics[0].partitions[0].error_code": "GROUP_SUBSCRIBED_TO_TOPIC"})
    (await committed(broker, member.group, topic)).expect(committed_offset=5)


@check(
    "consumer-group/transaction-without-member",
    "KAFKA-18060; apache/kafka#17914",
    needs={**NEEDS, "TxnOffsetCommit": 0, "AddOffsetsToTxn": 0},
    since="4.0.0",
)
async def transaction_without_member(broker: Broker) -> None:
    """A transaction commits offsets of a group with members without naming a member."""
    topic = await broker.topic()
    member = await only_consumer(broker, topic, 1)
    connection, transaction = await pending_commit(broker, member.group, topic, 8)
    await end_transaction(broker, connection, transaction)
    fetched = await fetch_stable(broker, member.group, topic)
    fetched.expect(error_code="NONE", committed_offset=8)


CHECKS: Final[tuple[Check, ...]] = (
    member_commits,
    commit_old_version,
    commit_epoch_too_new,
    commit_lost_partition,
    commit_kept_partition,
    commit_stranger,
    commit_during_rebalance,
    fetch_offsets_as_member,
    fetch_offsets_stranger,
    delete_offsets,
    transaction_without_member,
)
