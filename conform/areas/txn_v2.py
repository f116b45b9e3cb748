"""Transactions v2 (KIP-890, part 2): Produce and TxnOffsetCommit begin them, EndTxn bumps the epoch."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from barnabas.conform.areas.txn import FENCED
from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.commits import committed
from barnabas.conform.operations import Now, Sleep
from barnabas.conform.response import Response
from barnabas.conform.transactions import (
    BUMPS,
    IMPLICIT,
    IMPLICIT_OFFSETS,
    TransactionalProducer,
    producer,
)

V2: Final = {"InitProducerId": 0, "Produce": IMPLICIT, "EndTxn": BUMPS}
OFFSETS: Final = {"InitProducerId": 0, "TxnOffsetCommit": IMPLICIT_OFFSETS, "EndTxn": BUMPS}


async def _produce(made: TransactionalProducer, topic: str, *values: str) -> Response:
    return await made.produce(
        topic, *values, version=made.broker.version("Produce", IMPLICIT, IMPLICIT)
    )


async def _end(made: TransactionalProducer, *, commit: bool) -> Response:
    return await made.end(commit=commit, version=made.broker.version("EndTxn", BUMPS))


def _before(made: TransactionalProducer) -> TransactionalProducer:
    """Return a producer with the epoch before the last EndTxn, as after a lost response."""
    return replace(made, epoch=made.epoch - 1)


async def _committed(broker: Broker, topic: str) -> TransactionalProducer:
    """Return a producer that has committed a transaction of one record.

    The commit is repeated: while the coordinator still writes markers, it answers CONCURRENT_TRANSACTIONS.
    """
    made = await producer(broker)
    (await _produce(made, topic, "a")).expect(error_code="NONE")
    (await _end(made, commit=True)).expect(error_code="NONE")
    (await _end(_before(made), commit=True)).expect(error_code="NONE")
    return made


@check("txn/abort-nothing", "KIP-890; TransactionCoordinator.endTransaction", needs=V2, since="4.0")
async def abort_nothing(broker: Broker) -> None:
    """From v5 on an abort without a transaction succeeds and returns the next epoch.

    A client that lost a response of Produce does not know whether the transaction has begun.
    """
    made = await producer(broker)
    epoch = made.epoch
    response = await _end(made, commit=False)
    response.expect(error_code="NONE", producer_id=made.producer_id, producer_epoch=epoch + 1)


@check("txn/commit-next", "KIP-890; TransactionCoordinator.endTransaction", needs=V2, since="4.0")
async def commit_next(broker: Broker) -> None:
    """From v5 on a commit with the epoch that the last commit returned, and no transaction, is refused."""
    made = await _committed(broker, await broker.topic())
    (await _end(made, commit=True)).expect(error_code="INVALID_TXN_STATE")


@check(
    "txn/end-again-otherwise",
    "KIP-890; TransactionCoordinator.endTransaction",
    needs=V2,
    since="4.0",
)
async def end_again_otherwise(broker: Broker) -> None:
    """From v5 on an abort with the epoch before the last commit gets INVALID_TXN_STATE."""
    made = await _committed(broker, await broker.topic())
    (await _end(_before(made), commit=False)).expect(error_code="INVALID_TXN_STATE")


@check("txn/abort-fenced", "KIP-890; KIP-588", needs=V2, since="4.0")
async def abort_fenced(broker: Broker) -> None:
    """From v5 on a producer that a newer one has fenced can't abort, also without a transaction."""
    first = await producer(broker)
    await producer(broker, first.name)
    (await _end(first, commit=False)).expect(error_code=FENCED)


@check("txn/end-next-epoch", "TransactionCoordinator.endTransaction", needs=V2, since="4.0")
async def end_next_epoch(broker: Broker) -> None:
    """From v5 on EndTxn with an epoch that no response had yet is refused, and the transaction goes on."""
    made = await producer(broker)
    (await _produce(made, await broker.topic(), "a")).expect(error_code="NONE")
    (await _end(replace(made, epoch=made.epoch + 1), commit=True)).expect(error_code=FENCED)
    (await _end(made, commit=True)).expect(error_code="NONE")


@check("txn/produce-ended-epoch", "KIP-890", needs=V2, since="4.0")
async def produce_ended_epoch(broker: Broker) -> None:
    """After EndTxn v5 a late batch with the transaction's epoch does not get into the next transaction."""
    topic = await broker.topic()
    made = await _committed(broker, topic)
    (await _produce(made, topic, "b")).expect(error_code="NONE")
    late = replace(_before(made), sequence=1)
    (await _produce(late, topic, "c")).expect(error_code=FENCED)


@check("txn/produce-next-epoch", "KIP-890; TransactionCoordinator", needs=V2, since="4.0")
async def produce_next_epoch(broker: Broker) -> None:
    """From v12 on a batch with an epoch that no response had yet is refused."""
    made = await producer(broker)
    ahead = replace(made, epoch=made.epoch + 1)
    (await _produce(ahead, await broker.topic(), "a")).expect(error_code=FENCED)


@check(
    "txn/first-sequence",
    "KIP-890; ProducerAppendInfo.checkSequence",
    level=SHOULD,
    needs=V2,
    since="4.1",
)
async def first_sequence(broker: Broker) -> None:
    """From v12 on the first batch of a producer that the partition does not know has sequence number 0."""
    made = await producer(broker)
    gap = replace(made, sequence=3)
    refused = await _produce(gap, await broker.topic(), "a")
    refused.expect(error_code="OUT_OF_ORDER_SEQUENCE_NUMBER")


@check("isolation/offsets-begin", "KIP-890", needs={**OFFSETS, "OffsetFetch": 1}, since="4.0")
async def offsets_begin(broker: Broker) -> None:
    """From v5 on TxnOffsetCommit begins a transaction without AddOffsetsToTxn; a commit keeps its offsets."""
    topic, group = await broker.topic(), broker.name("group")
    made = await producer(broker)
    (await _commit_offset(made, group, topic, 5)).expect(error_code="NONE")
    (await _end(made, commit=True)).expect(error_code="NONE")
    deadline = await Now() + 5
    while True:
        part = await committed(broker, group, topic)
        if part["committed_offset"] != -1 or await Now() > deadline:
            part.expect(committed_offset=5)
            return
        await Sleep(0.1)


async def _commit_offset(
    made: TransactionalProducer, group: str, topic: str, offset: int
) -> Response:
    version = made.broker.version("TxnOffsetCommit", IMPLICIT_OFFSETS, IMPLICIT_OFFSETS)
    return await made.commit_offset(group, topic, offset, add=False, version=version)


@check("isolation/offsets-ended-epoch", "KIP-890", needs={**V2, **OFFSETS}, since="4.0")
async def offsets_ended_epoch(broker: Broker) -> None:
    """From v5 on TxnOffsetCommit with the epoch of an ended transaction is refused."""
    topic = await broker.topic()
    late = _before(await _committed(broker, topic))
    part = await _commit_offset(late, broker.name("group"), topic, 5)
    part.expect(error_code=FENCED)


CHECKS: Final[tuple[Check, ...]] = (
    abort_nothing,
    commit_next,
    end_again_otherwise,
    abort_fenced,
    end_next_epoch,
    produce_ended_epoch,
    produce_next_epoch,
    first_sequence,
    offsets_begin,
    offsets_ended_epoch,
)
