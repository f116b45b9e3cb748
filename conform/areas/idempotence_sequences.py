"""Idempotent producers: sequence numbers and epochs."""

from __future__ import annotations

from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.expectations import OneOf
from barnabas.conform.logs import expect_log
from barnabas.conform.partitions import together
from barnabas.conform.producers import IdempotentProducer, new_producer
from barnabas.conform.verdicts import Skipped

NEEDS: Final = {"InitProducerId": 0, "Produce": 3}
READ: Final = {**NEEDS, "Fetch": 4}

LAST_SEQUENCE: Final = 2**31 - 1


async def begin(producer: IdempotentProducer, sequence: int, *values: str) -> None:
    """Produce a producer's first batch. Raises Skipped if its sequence number must be 0."""
    if (await producer.send(sequence, *values))["error_code"] != "NONE":
        raise Skipped("the broker accepts no first sequence number but 0")


@check("idempotence/first-sequence", "ProducerAppendInfo", level=SHOULD, needs=NEEDS)
async def first_sequence(broker: Broker) -> None:
    """The first batch of a producer may have any sequence number."""
    producer = await new_producer(broker)
    (await producer.send(5, "a")).expect(error_code="NONE", base_offset=0)


@check("idempotence/in-sequence", "KIP-98", needs=READ)
async def in_sequence(broker: Broker) -> None:
    """Batches with consecutive sequence numbers are stored."""
    producer = await new_producer(broker)
    (await producer.send(0, "a", "b")).expect(error_code="NONE", base_offset=0)
    (await producer.send(2, "c")).expect(error_code="NONE", base_offset=2)
    (await producer.send(3, "d")).expect(error_code="NONE", base_offset=3)
    await expect_log(broker, producer.topic, "a", "b", "c", "d")


@check("idempotence/gap", "KIP-98", needs=READ)
async def gap(broker: Broker) -> None:
    """A batch with a gap before its sequence number gets OUT_OF_ORDER_SEQUENCE_NUMBER."""
    producer = await new_producer(broker)
    await producer.sent(0, "a", "b")
    (await producer.send(7, "x")).expect(error_code="OUT_OF_ORDER_SEQUENCE_NUMBER")
    (await producer.send(2, "c")).expect(error_code="NONE", base_offset=2)
    await expect_log(broker, producer.topic, "a", "b", "c")


@check("idempotence/overlap", "ProducerAppendInfo", needs=READ)
async def overlap(broker: Broker) -> None:
    """A batch that overlaps the preceding one, and is not a duplicate, is refused."""
    producer = await new_producer(broker)
    await producer.sent(0, "a", "b")
    refused = await producer.send(1, "b", "c")
    refused.expect(error_code=OneOf("OUT_OF_ORDER_SEQUENCE_NUMBER", "DUPLICATE_SEQUENCE_NUMBER"))
    await expect_log(broker, producer.topic, "a", "b")


@check("idempotence/old-epoch", "KIP-588; ProducerAppendInfo", needs=READ)
async def old_epoch(broker: Broker) -> None:
    """A batch with an older epoch than the producer's last gets INVALID_PRODUCER_EPOCH."""
    producer = await new_producer(broker)
    await producer.sent(0, "a", epoch=3)
    (await producer.send(1, "b", epoch=1)).expect(error_code="INVALID_PRODUCER_EPOCH")
    await expect_log(broker, producer.topic, "a")


@check("idempotence/new-epoch", "KIP-360; ProducerAppendInfo", needs=READ)
async def new_epoch(broker: Broker) -> None:
    """A new epoch of a producer begins again at sequence number 0."""
    producer = await new_producer(broker)
    await producer.sent(0, "a", "b")
    (await producer.send(0, "c", epoch=1)).expect(error_code="NONE", base_offset=2)
    await expect_log(broker, producer.topic, "a", "b", "c")


@check("idempotence/new-epoch-sequence", "ProducerAppendInfo", needs=READ)
async def new_epoch_sequence(broker: Broker) -> None:
    """A new epoch of a producer that begins at another sequence number is refused."""
    producer = await new_producer(broker)
    await producer.sent(0, "a")
    refused = await producer.send(5, "b", epoch=1)
    refused.expect(error_code="OUT_OF_ORDER_SEQUENCE_NUMBER")
    await expect_log(broker, producer.topic, "a")


@check("idempotence/wraps", "DefaultRecordBatch.incrementSequence", needs=NEEDS)
async def wraps(broker: Broker) -> None:
    """The sequence number 0 follows the largest one."""
    producer = await new_producer(broker)
    await begin(producer, LAST_SEQUENCE, "a")
    (await producer.send(0, "b")).expect(error_code="NONE", base_offset=1)


@check("idempotence/wraps-inside-batch", "DefaultRecordBatch.incrementSequence", needs=NEEDS)
async def wraps_inside_batch(broker: Broker) -> None:
    """Sequence numbers go on at 0 within a batch that contains the largest one."""
    producer = await new_producer(broker)
    await begin(producer, LAST_SEQUENCE - 1, "a", "b", "c", "d")
    (await producer.send(3, "x")).expect(error_code="OUT_OF_ORDER_SEQUENCE_NUMBER")
    (await producer.send(2, "e")).expect(error_code="NONE", base_offset=4)


@check("idempotence/negative-sequence", "LogValidator.validateBatch", level=SHOULD, needs=READ)
async def negative_sequence(broker: Broker) -> None:
    """A batch with a producer id and a negative sequence number gets INVALID_RECORD."""
    producer = await new_producer(broker)
    (await producer.send(-1, "a")).expect(error_code="INVALID_RECORD")
    await expect_log(broker, producer.topic)


@check("idempotence/two-partitions", "KIP-98", needs=NEEDS)
async def two_partitions(broker: Broker) -> None:
    """Each partition has its own sequence numbers."""
    topic, (first, second), _ = await together(broker)
    producer = await new_producer(broker, topic)
    for partition in (first, second):
        stored = await producer.send(0, "a", "b", partition=partition)
        stored.expect(error_code="NONE", base_offset=0)
    for partition in (first, second):
        repeated = await producer.send(0, "a", "b", partition=partition)
        repeated.expect(error_code="NONE", base_offset=0)


@check("idempotence/two-producers", "KIP-98", needs=READ)
async def two_producers(broker: Broker) -> None:
    """Two producers that write to one partition alternately have their own sequence numbers."""
    first = await new_producer(broker)
    second = await new_producer(broker, first.topic)
    await first.sent(0, "a")
    await second.sent(0, "b", "c")
    (await first.send(1, "d")).expect(error_code="NONE", base_offset=3)
    (await second.send(0, "b", "c")).expect(error_code="NONE", base_offset=1)
    (await second.send(2, "e")).expect(error_code="NONE", base_offset=4)
    await expect_log(broker, first.topic, *"abcde")


CHECKS: Final[tuple[Check, ...]] = (
    first_sequence,
    in_sequence,
    gap,
    overlap,
    old_epoch,
    new_epoch,
    new_epoch_sequence,
    wraps,
    wraps_inside_batch,
    negative_sequence,
    two_partitions,
    two_producers,
)
