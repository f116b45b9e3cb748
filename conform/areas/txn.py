"""Transactions: producer ids and epochs, partitions, commit and abort."""

from __future__ import annotations

from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.expectations import AtLeast, OneOf
from barnabas.conform.operations import Now, Sleep
from barnabas.conform.transactions import BUMPS, IMPLICIT, producer, uninitialised, written

NEEDS: Final = {"InitProducerId": 0, "AddPartitionsToTxn": 0, "EndTxn": 0, "Produce": 3}
FENCED: Final = OneOf("INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED")
"""Errors for an old epoch: the second one since KIP-588."""

REFUSED: Final = OneOf(
    "INVALID_TXN_STATE", "NOT_LEADER_OR_FOLLOWER", "NOT_ENOUGH_REPLICAS", "TRANSACTION_ABORTABLE"
)
"""Errors for a partition that is not part of the transaction, by release."""


@check("txn/init", "KIP-98", needs={"InitProducerId": 0}, each="InitProducerId")
async def init(broker: Broker) -> None:
    """InitProducerId returns a producer id and epoch 0 for a new transactional id."""
    made = await uninitialised(broker)
    response = await made.init(version=broker.version("InitProducerId"))
    response.expect(error_code="NONE", producer_id=AtLeast(0), producer_epoch=0)


@check("txn/init-bumps-epoch", "KIP-98", needs={"InitProducerId": 0})
async def init_bumps_epoch(broker: Broker) -> None:
    """A second InitProducerId of a transactional id returns the same producer id and the next epoch."""
    first = await producer(broker)
    second = await uninitialised(broker, first.name)
    response = await second.init()
    response.expect(
        error_code="NONE", producer_id=first.producer_id, producer_epoch=first.epoch + 1
    )


@check("txn/init-aborts-open", "KIP-98", needs={**NEEDS, "ListOffsets": 2})
async def init_aborts_open(broker: Broker) -> None:
    """InitProducerId aborts the open transaction of the transactional id."""
    topic = await broker.topic()
    first = await written(broker, topic, "ab", commit=None)
    await producer(broker, first.name)
    (await first.end(commit=True)).expect(error_code=FENCED)


@check("txn/init-timeout-too-long", "transaction.max.timeout.ms", needs={"InitProducerId": 0})
async def init_timeout_too_long(broker: Broker) -> None:
    """A transaction timeout above the broker's maximum gets INVALID_TRANSACTION_TIMEOUT."""
    made = await uninitialised(broker)
    response = await made.init(timeout_ms=2_000_000_000)
    response.expect(error_code="INVALID_TRANSACTION_TIMEOUT")


@check("txn/init-epoch-given", "KIP-360", level=SHOULD, needs={"InitProducerId": 3})
async def init_epoch_given(broker: Broker) -> None:
    """InitProducerId with an old epoch gets PRODUCER_FENCED or INVALID_PRODUCER_EPOCH."""
    first = await producer(broker)
    old = {"producer_id": first.producer_id, "producer_epoch": first.epoch}
    for _ in range(2):
        await producer(broker, first.name)
    stale = await uninitialised(broker, first.name)
    (await stale.init(**old)).expect(error_code=FENCED)


@check("txn/init-keeps-epoch-chain", "KIP-360", needs={"InitProducerId": 3})
async def init_keeps_epoch_chain(broker: Broker) -> None:
    """InitProducerId with the current producer id and epoch returns the next epoch."""
    first = await producer(broker)
    response = await first.init(producer_id=first.producer_id, producer_epoch=first.epoch)
    response.expect(error_code="NONE", producer_id=first.producer_id, producer_epoch=1)


@check("txn/add-old-epoch", "KIP-588", needs=NEEDS)
async def add_old_epoch(broker: Broker) -> None:
    """AddPartitionsToTxn with an old epoch gets INVALID_PRODUCER_EPOCH or PRODUCER_FENCED."""
    topic = await broker.topic()
    first = await producer(broker)
    await producer(broker, first.name)
    (await first.add(topic)).expect(partition_error_code=FENCED)


@check("txn/end-old-epoch", "KIP-588", needs=NEEDS, each="EndTxn")
async def end_old_epoch(broker: Broker) -> None:
    """EndTxn with an old epoch gets INVALID_PRODUCER_EPOCH or PRODUCER_FENCED."""
    topic = await broker.topic()
    first = await written(broker, topic, "a", commit=None)
    await producer(broker, first.name)
    response = await first.end(commit=True, version=broker.version("EndTxn"))
    response.expect(error_code=FENCED)


@check("txn/end-unknown", "TransactionCoordinator", needs={"EndTxn": 0, "InitProducerId": 0})
async def end_unknown(broker: Broker) -> None:
    """EndTxn of a transactional id without a producer id gets INVALID_PRODUCER_ID_MAPPING."""
    unknown = await uninitialised(broker)
    unknown.producer_id, unknown.epoch = 4711, 0
    (await unknown.end(commit=True)).expect(error_code="INVALID_PRODUCER_ID_MAPPING")


@check(
    "txn/end-other-producer-id", "TransactionCoordinator", needs={"EndTxn": 0, "InitProducerId": 0}
)
async def end_other_producer_id(broker: Broker) -> None:
    """EndTxn with another producer id gets INVALID_PRODUCER_ID_MAPPING."""
    made = await producer(broker)
    made.producer_id += 100_000
    (await made.end(commit=True)).expect(error_code="INVALID_PRODUCER_ID_MAPPING")


@check(
    "txn/end-empty",
    "TransactionCoordinator",
    level=SHOULD,
    needs={"EndTxn": 0, "InitProducerId": 0},
)
async def end_empty(broker: Broker) -> None:
    """EndTxn without a transaction gets INVALID_TXN_STATE."""
    made = await producer(broker)
    (await made.end(commit=True)).expect(error_code="INVALID_TXN_STATE")


@check("txn/commit-again", "TransactionCoordinator", needs=NEEDS)
async def commit_again(broker: Broker) -> None:
    """A second commit of a committed transaction succeeds, for clients that lost the response."""
    made = await written(broker, await broker.topic(), "a", commit=True)
    (await made.end(commit=True)).expect(error_code="NONE")


@check("txn/commit-then-abort", "TransactionCoordinator", needs=NEEDS)
async def commit_then_abort(broker: Broker) -> None:
    """An abort of a committed transaction gets INVALID_TXN_STATE."""
    made = await written(broker, await broker.topic(), "a", commit=True)
    (await made.end(commit=False)).expect(error_code="INVALID_TXN_STATE")


@check("txn/abort-then-commit", "TransactionCoordinator", needs=NEEDS)
async def abort_then_commit(broker: Broker) -> None:
    """A commit of an aborted transaction gets INVALID_TXN_STATE."""
    made = await written(broker, await broker.topic(), "a", commit=False)
    (await made.end(commit=True)).expect(error_code="INVALID_TXN_STATE")


@check("txn/produce-not-added", "KIP-890", needs=NEEDS, since="3.7")
async def produce_not_added(broker: Broker) -> None:
    """Up to v11 Produce to a partition that is not part of the transaction is refused."""
    topic = await broker.topic()
    made = await producer(broker)
    response = await made.produce(topic, "a")
    response.expect(error_code=REFUSED)


@check("txn/produce-old-epoch", "KIP-588", needs=NEEDS)
async def produce_old_epoch(broker: Broker) -> None:
    """Produce with an old epoch is refused."""
    topic = await broker.topic()
    first = await written(broker, topic, "a", commit=None)
    second = await producer(broker, first.name)
    (await second.add(topic)).expect(partition_error_code="NONE")
    (await second.produce(topic, "b")).expect(error_code="NONE")
    (await first.produce(topic, "c")).expect(error_code=FENCED)


@check(
    "txn/produce-adds-partition", "KIP-890", needs={**NEEDS, "Produce": IMPLICIT, "EndTxn": BUMPS}
)
async def produce_adds_partition(broker: Broker) -> None:
    """From v12 on Produce adds its partition to the transaction."""
    topic = await broker.topic()
    made = await producer(broker)
    version = broker.version("Produce", IMPLICIT)
    (await made.produce(topic, "a", version=version)).expect(error_code="NONE")
    (await made.end(commit=True, version=broker.version("EndTxn", BUMPS))).expect(error_code="NONE")


@check("txn/end-bumps-epoch", "KIP-890", needs={**NEEDS, "EndTxn": BUMPS})
async def end_bumps_epoch(broker: Broker) -> None:
    """From v5 on EndTxn returns the producer id and the next epoch."""
    made = await written(broker, await broker.topic(), "a", commit=None)
    before = made.epoch
    response = await made.end(commit=True, version=broker.version("EndTxn", BUMPS))
    response.expect(error_code="NONE", producer_id=made.producer_id, producer_epoch=before + 1)


@check("txn/end-bumped-retry", "KIP-890", needs={**NEEDS, "EndTxn": BUMPS})
async def end_bumped_retry(broker: Broker) -> None:
    """From v5 on a repeated EndTxn with the previous epoch succeeds and returns the same epoch."""
    made = await written(broker, await broker.topic(), "a", commit=None)
    before, version = made.epoch, broker.version("EndTxn", BUMPS)
    first = await made.end(commit=True, version=version)
    made.epoch = before
    again = await made.end(commit=True, version=version)
    again.expect(error_code="NONE", producer_epoch=first["producer_epoch"])


@check(
    "txn/add-unknown-topic", "AddPartitionsToTxnResponse.json, OPERATION_NOT_ATTEMPTED", needs=NEEDS
)
async def add_unknown_topic(broker: Broker) -> None:
    """If one partition is unknown, none is added: the others get OPERATION_NOT_ATTEMPTED."""
    topic, unknown = await broker.topic(), broker.name("topic")
    made = await producer(broker)
    part = await made.add(topic, unknown)
    response = part.whole()
    errors = {
        row["name"]: response[
            f"results_by_topic_v3_and_below[{index}].results_by_partition[0].partition_error_code"
        ]
        for index, row in enumerate(response["results_by_topic_v3_and_below"])
    }
    expected = {topic: "OPERATION_NOT_ATTEMPTED", unknown: "UNKNOWN_TOPIC_OR_PARTITION"}
    if errors != expected:
        raise response.failed("results_by_topic_v3_and_below", f"{expected}", f"{errors}")


@check("txn/add-again", "KIP-98", needs=NEEDS)
async def add_again(broker: Broker) -> None:
    """Adding a partition twice succeeds, for clients that lost the response."""
    topic = await broker.topic()
    made = await producer(broker)
    for _ in range(2):
        (await made.add(topic)).expect(partition_error_code="NONE")


@check("txn/expires", "TransactionCoordinator, transaction.timeout.ms", needs=NEEDS)
async def expires(broker: Broker) -> None:
    """A transaction that exceeds its timeout is aborted, and its EndTxn is refused.

    The coordinator looks for expired transactions every 10 s, so the check takes up to 15 s.
    """
    made = await producer(broker, timeout_ms=1000)
    (await made.add(await broker.topic())).expect(partition_error_code="NONE")
    deadline = await Now() + 25
    while True:
        await Sleep(1)
        described = await made.describe()
        if described["transaction_state"] == "CompleteAbort":
            break
        if await Now() > deadline:
            raise described.failed(
                "transaction_state", "CompleteAbort", described["transaction_state"]
            )
    (await made.end(commit=True)).expect(
        error_code=OneOf("INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED", "INVALID_TXN_STATE")
    )


@check("txn/describe", "KIP-664", needs={**NEEDS, "DescribeTransactions": 0})
async def describe(broker: Broker) -> None:
    """DescribeTransactions returns state, producer id, epoch and partitions of a transaction."""
    topic = await broker.topic()
    made = await written(broker, topic, "a", commit=None)
    part = await made.describe()
    part.expect(
        error_code="NONE",
        transactional_id=made.name,
        transaction_state="Ongoing",
        producer_id=made.producer_id,
        producer_epoch=made.epoch,
    )
    part.at("topics[0]").expect(topic=topic, partitions=[0])


@check("txn/describe-unknown", "KIP-664", needs={"DescribeTransactions": 0})
async def describe_unknown(broker: Broker) -> None:
    """An unknown transactional id gets TRANSACTIONAL_ID_NOT_FOUND."""
    unknown = await uninitialised(broker)
    (await unknown.describe()).expect(error_code="TRANSACTIONAL_ID_NOT_FOUND")


@check("txn/list", "KIP-664", needs={**NEEDS, "ListTransactions": 0})
async def list_transactions(broker: Broker) -> None:
    """ListTransactions lists an open transaction if the filter of states includes Ongoing, and only then."""
    made = await written(broker, await broker.topic(), "a", commit=None)
    for states, listed in ((["Ongoing"], True), (["CompleteCommit"], False)):
        response = await made.coordinator.send(
            "ListTransactions", state_filters=states, producer_id_filters=[], duration_filter=-1
        )
        names = [row["transactional_id"] for row in response["transaction_states"]]
        if (made.name in names) != listed:
            expected = f"{'with' if listed else 'without'} {made.name} for {states}"
            raise response.failed("transaction_states", expected, f"{names}")


CHECKS: Final[tuple[Check, ...]] = (
    init,
    init_bumps_epoch,
    init_aborts_open,
    init_timeout_too_long,
    init_epoch_given,
    init_keeps_epoch_chain,
    add_old_epoch,
    end_old_epoch,
    end_unknown,
    end_other_producer_id,
    end_empty,
    commit_again,
    commit_then_abort,
    abort_then_commit,
    produce_not_added,
    produce_old_epoch,
    produce_adds_partition,
    end_bumps_epoch,
    end_bumped_retry,
    add_unknown_topic,
    add_again,
    expires,
    describe,
    describe_unknown,
    list_transactions,
)
