"""Idempotent producers: producer ids and duplicates."""

from __future__ import annotations

from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import INFO, SHOULD, Check, check
from barnabas.conform.expectations import AtLeast, Not, OneOf
from barnabas.conform.logs import batch, expect_log, produced_topic, read_log, usable_version
from barnabas.conform.producers import IdempotentProducer, init_producer_id, new_producer

NEEDS: Final = {"InitProducerId": 0, "Produce": 3}
READ: Final = {**NEEDS, "Fetch": 4}

LAST_SEQUENCE: Final = 2**31 - 1


@check("idempotence/producer-id", "KIP-98", needs={"InitProducerId": 0}, each="InitProducerId")
async def producer_id(broker: Broker) -> None:
    """InitProducerId without a transactional id returns another id each time, with epoch 0."""
    first = await init_producer_id(broker)
    first.expect(error_code="NONE", producer_id=AtLeast(0), producer_epoch=0)
    second = await init_producer_id(broker)
    second.expect(error_code="NONE", producer_id=Not(first["producer_id"]), producer_epoch=0)


@check(
    "idempotence/producer-id-with-epoch",
    "KIP-360",
    level=SHOULD,
    needs={"InitProducerId": 3},
)
async def producer_id_with_epoch(broker: Broker) -> None:
    """InitProducerId with a producer id but without an epoch gets INVALID_REQUEST."""
    response = await broker.send(
        "InitProducerId",
        transactional_id=None,
        transaction_timeout_ms=60_000,
        producer_id=1,
        producer_epoch=-1,
    )
    response.expect(error_code="INVALID_REQUEST")


@check("idempotence/transactional-id-empty", "TransactionCoordinator", needs={"InitProducerId": 0})
async def transactional_id_empty(broker: Broker) -> None:
    """InitProducerId with an empty transactional id gets INVALID_REQUEST."""
    response = await broker.send(
        "InitProducerId",
        transactional_id="",
        transaction_timeout_ms=60_000,
        producer_id=-1,
        producer_epoch=-1,
    )
    response.expect(error_code="INVALID_REQUEST")


@check("idempotence/duplicate", "KIP-98", needs=READ)
async def duplicate(broker: Broker) -> None:
    """A batch that was stored before is answered with its old offset, and stored once."""
    producer = await new_producer(broker)
    (await producer.send(0, "a", "b")).expect(error_code="NONE", base_offset=0)
    (await producer.send(0, "a", "b")).expect(error_code="NONE", base_offset=0)
    (await producer.send(2, "c")).expect(error_code="NONE", base_offset=2)
    await expect_log(broker, producer.topic, "a", "b", "c")


@check("idempotence/duplicate-of-five", "ProducerStateEntry.NUM_BATCHES_TO_RETAIN", needs=READ)
async def duplicate_of_five(broker: Broker) -> None:
    """Each of a producer's last five batches is answered with its old offset if it comes again."""
    producer = await new_producer(broker)
    for sequence, value in enumerate("abcdef"):
        await producer.sent(sequence, value)
    for sequence, value in list(enumerate("abcdef"))[1:]:
        repeated = await producer.send(sequence, value)
        repeated.expect(error_code="NONE", base_offset=sequence)
    await expect_log(broker, producer.topic, *"abcdef")


@check(
    "idempotence/duplicate-too-old",
    "ProducerStateEntry.NUM_BATCHES_TO_RETAIN",
    level=SHOULD,
    needs=READ,
)
async def duplicate_too_old(broker: Broker) -> None:
    """A repeated batch that the broker no longer remembers is refused, and not stored again."""
    producer = await new_producer(broker)
    for sequence, value in enumerate("abcdefg"):
        await producer.sent(sequence, value)
    refused = await producer.send(0, "a")
    refused.expect(error_code=OneOf("OUT_OF_ORDER_SEQUENCE_NUMBER", "DUPLICATE_SEQUENCE_NUMBER"))
    await expect_log(broker, producer.topic, *"abcdefg")


@check("idempotence/duplicate-other-connection", "KIP-98", needs=READ)
async def duplicate_other_connection(broker: Broker) -> None:
    """A batch that is repeated on another connection is answered with its old offset."""
    producer = await new_producer(broker)
    await producer.sent(0, "a")
    other = await broker.leader(producer.topic, fresh=True)
    (await producer.send(0, "a", on=other)).expect(error_code="NONE", base_offset=0)
    await expect_log(broker, producer.topic, "a")


@check("idempotence/one-id-twice", "KIP-98", needs=READ)
async def one_id_twice(broker: Broker) -> None:
    """If two connections use one producer id and sequence number, only the first batch is stored."""
    producer = await new_producer(broker)
    other = await broker.leader(producer.topic, fresh=True)
    await producer.sent(0, "a")
    await producer.send(0, "b", on=other)
    await expect_log(broker, producer.topic, "a")


@check("idempotence/pipelined", "KIP-98", needs=READ)
async def pipelined(broker: Broker) -> None:
    """Five batches in flight are stored in order, and again in flight they are all duplicates."""
    producer = await new_producer(broker)
    version = await usable_version(broker, "Produce", producer.topic)
    name = await produced_topic(broker, producer.topic, version)
    leader = await broker.leader(producer.topic)
    for _ in range(2):
        for sequence, value in enumerate("abcde"):
            data = batch(
                value,
                time_ms=broker.time_ms,
                producer_id=producer.id,
                producer_epoch=0,
                base_sequence=sequence,
            )
            await leader.write(
                "Produce",
                version,
                acks=-1,
                timeout_ms=10_000,
                topic_data=[{**name, "partition_data": [{"index": 0, "records": data}]}],
            )
        for offset in range(5):
            stored = (await leader.read()).at("responses[0].partition_responses[0]")
            stored.expect(error_code="NONE", base_offset=offset)
    await expect_log(broker, producer.topic, *"abcde")


@check("idempotence/acks-one", "ProducerAppendInfo", level=INFO, needs=READ)
async def acks_one(broker: Broker) -> None:
    """A batch with a producer id and acks=1 is stored, and its duplicate is recognized."""
    producer = await new_producer(broker)
    (await producer.send(0, "a", acks=1)).expect(error_code="NONE", base_offset=0)
    (await producer.send(0, "a", acks=1)).expect(error_code="NONE", base_offset=0)
    await expect_log(broker, producer.topic, "a")


@check("idempotence/unknown-producer-id", "ProducerAppendInfo; KIP-360", level=SHOULD, needs=NEEDS)
async def unknown_producer_id(broker: Broker) -> None:
    """A producer id that the partition has not seen is accepted, whoever allocated it."""
    topic = await broker.topic()
    producer = IdempotentProducer(broker, topic, 2**40 + 7)
    (await producer.send(0, "a")).expect(error_code="NONE", base_offset=0)


@check("idempotence/ids-kept", "DefaultRecordBatch; KIP-98", level=SHOULD, needs=READ)
async def ids_kept(broker: Broker) -> None:
    """A stored batch has the producer id, epoch and sequence number that the producer wrote."""
    producer = await new_producer(broker)
    for sequence in range(3):
        await producer.sent(sequence, "a")
    batches, fetched = await read_log(broker, producer.topic)
    received = [(each.producer_id, each.producer_epoch, each.base_sequence) for each in batches]
    expected = [(producer.id, 0, sequence) for sequence in range(3)]
    if received != expected:
        raise fetched.failed("records", f"id, epoch, sequence {expected}", f"{received}")


@check(
    "idempotence/describe-producers",
    "KIP-664",
    needs={**NEEDS, "DescribeProducers": 0},
)
async def describe_producers(broker: Broker) -> None:
    """DescribeProducers shows a producer's id, epoch and last sequence number."""
    producer = await new_producer(broker)
    await producer.sent(0, "a", "b")
    response = await (await broker.leader(producer.topic)).send(
        "DescribeProducers", topics=[{"name": producer.topic, "partition_indexes": [0]}]
    )
    partition = response.at("topics[0].partitions[0]").expect(error_code="NONE")
    partition.expect(
        **{
            "active_producers[0].producer_id": producer.id,
            "active_producers[0].producer_epoch": 0,
            "active_producers[0].last_sequence": 1,
            "active_producers[0].current_txn_start_offset": -1,
        }
    )


CHECKS: Final[tuple[Check, ...]] = (
    producer_id,
    producer_id_with_epoch,
    transactional_id_empty,
    duplicate,
    duplicate_of_five,
    duplicate_too_old,
    duplicate_other_connection,
    one_id_twice,
    pipelined,
    acks_one,
    unknown_producer_id,
    ids_kept,
    describe_producers,
)
