"""Transactions: requests that a coordinator or a leader refuses, and what readers and administrators see."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from barnabas.conform.areas.isolation import COMMITTED, OFFSETS
from barnabas.conform.areas.txn import FENCED, NEEDS, REFUSED
from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.commits import as_member
from barnabas.conform.expectations import Not
from barnabas.conform.groups import MEMBERS, only_member
from barnabas.conform.logs import TIME_MS, batch, fetch, produce, produced
from barnabas.conform.offsets import list_offsets
from barnabas.conform.operations import Now, Sleep
from barnabas.conform.transactions import (
    IMPLICIT,
    producer,
    uninitialised,
    written,
)


async def _until_marked(broker: Broker, topic: str) -> None:
    """Wait until the marker that ends a transaction of one record is written: EndTxn does not wait for it."""
    deadline = await Now() + 5
    while (await fetch(broker, topic, 0))["last_stable_offset"] < 2 and await Now() < deadline:
        await Sleep(0.1)


@check("txn/add-unknown-id", "TransactionCoordinator", needs=NEEDS)
async def add_unknown_id(broker: Broker) -> None:
    """AddPartitionsToTxn of an unknown transactional id gets INVALID_PRODUCER_ID_MAPPING."""
    unknown = await uninitialised(broker)
    unknown.producer_id, unknown.epoch = 4711, 0
    part = await unknown.add(await broker.topic())
    part.expect(partition_error_code="INVALID_PRODUCER_ID_MAPPING")


@check("txn/add-offsets-unknown-id", "TransactionCoordinator", needs={"AddOffsetsToTxn": 0})
async def add_offsets_unknown_id(broker: Broker) -> None:
    """AddOffsetsToTxn of an unknown transactional id gets INVALID_PRODUCER_ID_MAPPING."""
    unknown = await uninitialised(broker)
    unknown.producer_id, unknown.epoch = 4711, 0
    response = await unknown.add_group(broker.name("group"))
    response.expect(error_code="INVALID_PRODUCER_ID_MAPPING")


@check("txn/add-offsets-old-epoch", "KIP-588", needs={"AddOffsetsToTxn": 0, "InitProducerId": 0})
async def add_offsets_old_epoch(broker: Broker) -> None:
    """AddOffsetsToTxn with an old epoch gets INVALID_PRODUCER_EPOCH or PRODUCER_FENCED."""
    first = await producer(broker)
    await producer(broker, first.name)
    (await first.add_group(broker.name("group"))).expect(error_code=FENCED)


@check("txn/produce-after-end", "KIP-890", needs=NEEDS, since="3.7")
async def produce_after_end(broker: Broker) -> None:
    """Up to v11 Produce after the end of a transaction, without adding the partition again, is refused."""
    topic = await broker.topic()
    made = await written(broker, topic, "a", commit=True)
    await _until_marked(broker, topic)
    (await made.produce(topic, "b")).expect(error_code=REFUSED)


@check("txn/produce-outside", "ProducerAppendInfo", level=SHOULD, needs=NEEDS)
async def produce_outside(broker: Broker) -> None:
    """A batch that is not transactional, of a producer with an open transaction, gets INVALID_TXN_STATE."""
    topic = await broker.topic()
    made = await written(broker, topic, "a", commit=None)
    data = batch(
        "b",
        time_ms=broker.time_ms,
        producer_id=made.producer_id,
        producer_epoch=made.epoch,
        base_sequence=made.sequence,
    )
    version = broker.version("Produce", 3, IMPLICIT - 1)
    response = await produce(broker, topic, data, version=version)
    response.expect(error_code="INVALID_TXN_STATE")


@check("txn/produce-without-id", "KafkaApis.handleProduceRequest", level=SHOULD, needs=NEEDS)
async def produce_without_id(broker: Broker) -> None:
    """A transactional batch in a Produce without a transactional id is refused."""
    topic = await broker.topic()
    made = await producer(broker)
    (await made.add(topic)).expect(partition_error_code="NONE")
    data = batch(
        "a",
        time_ms=broker.time_ms,
        producer_id=made.producer_id,
        producer_epoch=made.epoch,
        base_sequence=0,
        is_transactional=True,
    )
    version = broker.version("Produce", 3, IMPLICIT - 1)
    response = await produce(broker, topic, data, version=version)
    response.expect(error_code=Not("NONE"))


@check("isolation/offsets-old-epoch", "KIP-98", needs=OFFSETS)
async def offsets_old_epoch(broker: Broker) -> None:
    """TxnOffsetCommit with an old epoch, after a commit with a new one, is refused."""
    topic, group = await broker.topic(), broker.name("group")
    first = await producer(broker)
    second = await producer(broker, first.name)
    (await second.commit_offset(group, topic, 5)).expect(error_code="NONE")
    part = await second.commit_offset(group, topic, 6, producer_epoch=first.epoch)
    part.expect(error_code=FENCED)


@check(
    "isolation/offsets-old-generation",
    "KIP-447",
    needs={**OFFSETS, **MEMBERS, "TxnOffsetCommit": 3},
)
async def offsets_old_generation(broker: Broker) -> None:
    """TxnOffsetCommit of a member with another generation gets ILLEGAL_GENERATION."""
    topic, group = await broker.topic(), broker.name("group")
    member = await only_member(broker, group)
    made = await producer(broker)
    current = await made.commit_offset(group, topic, 5, **as_member(member))
    current.expect(error_code="NONE")
    member.generation += 7
    part = await made.commit_offset(group, topic, 6, **as_member(member))
    part.expect(error_code="ILLEGAL_GENERATION")


@check(
    "isolation/time-in-open-transaction",
    "KIP-98; twmb/franz-go#1434",
    needs={**NEEDS, "ListOffsets": 2},
)
async def time_in_open_transaction(broker: Broker) -> None:
    """With read_committed the time of a record in an open transaction gets offset -1 until it ends."""
    topic = await broker.topic()
    made = await written(broker, topic, "a", commit=None)
    listed = await list_offsets(broker, topic, TIME_MS, isolation_level=COMMITTED)
    listed.expect(error_code="NONE", offset=-1)
    (await made.end(commit=True)).expect(error_code="NONE")
    deadline = await Now() + 5
    while True:
        listed = await list_offsets(broker, topic, TIME_MS, isolation_level=COMMITTED)
        if listed["offset"] == 0 or await Now() > deadline:
            listed.expect(error_code="NONE", offset=0)
            return
        await Sleep(0.1)


@check("isolation/aborted-before", "KIP-98, aborted_transactions", level=SHOULD, needs=NEEDS)
async def aborted_before(broker: Broker) -> None:
    """A Fetch that begins after an aborted transaction does not list it."""
    topic = await broker.topic()
    await written(broker, topic, "a", commit=False)
    await _until_marked(broker, topic)
    offset = await produced(broker, topic, "b")
    part = await fetch(broker, topic, offset, isolation_level=COMMITTED)
    part.expect(error_code="NONE")
    if part["aborted_transactions"]:
        raise part.failed("aborted_transactions", "none", f"{part['aborted_transactions']}")


@check(
    "isolation/offsets-not-added",
    "KIP-890",
    needs={"InitProducerId": 0, "AddOffsetsToTxn": 0, "TxnOffsetCommit": 0},
    since="3.7",
)
async def offsets_not_added(broker: Broker) -> None:
    """Up to v4 TxnOffsetCommit of a group that is not part of the transaction is refused."""
    topic = await broker.topic()
    made = await producer(broker)
    part = await made.commit_offset(broker.name("group"), topic, 5, add=False)
    part.expect(error_code=Not("NONE"))


@check("txn/produce-other-producer-id", "KIP-890", needs=NEEDS, since="3.7")
async def produce_other_producer_id(broker: Broker) -> None:
    """A transactional batch with a producer id that the transactional id does not have is refused."""
    topic = await broker.topic()
    made = await producer(broker)
    (await made.add(topic)).expect(partition_error_code="NONE")
    other = replace(made, producer_id=made.producer_id + 100_000)
    (await other.produce(topic, "a")).expect(error_code=Not("NONE"))


@check("txn/end-after-init", "KIP-98; TransactionCoordinator.endTransaction", needs=NEEDS)
async def end_after_init(broker: Broker) -> None:
    """A commit after InitProducerId gets INVALID_TXN_STATE, though the transaction before was committed."""
    topic = await broker.topic()
    made = await producer(broker)
    (await made.add(topic)).expect(partition_error_code="NONE")
    (await made.end(commit=True)).expect(error_code="NONE")
    again = await producer(broker, made.name)
    (await again.end(commit=True)).expect(error_code="INVALID_TXN_STATE")


@check(
    "txn/describe-ended",
    "KIP-664; TransactionState",
    level=SHOULD,
    needs={**NEEDS, "DescribeTransactions": 0},
)
async def describe_ended(broker: Broker) -> None:
    """DescribeTransactions has CompleteCommit or CompleteAbort after an end, Empty after InitProducerId."""
    topic = await broker.topic()
    made = await producer(broker)
    for commit, state in ((True, "CompleteCommit"), (False, "CompleteAbort")):
        (await made.add(topic)).expect(partition_error_code="NONE")
        (await made.end(commit=commit)).expect(error_code="NONE")
        (await made.end(commit=commit)).expect(error_code="NONE")  # markers are written
        (await made.describe()).expect(error_code="NONE", transaction_state=state)
    (await (await producer(broker, made.name)).describe()).expect(transaction_state="Empty")


CHECKS: Final[tuple[Check, ...]] = (
    add_unknown_id,
    add_offsets_unknown_id,
    add_offsets_old_epoch,
    produce_after_end,
    produce_outside,
    produce_without_id,
    offsets_old_epoch,
    offsets_old_generation,
    time_in_open_transaction,
    aborted_before,
    offsets_not_added,
    produce_other_producer_id,
    end_after_init,
    describe_ended,
)
