"""Several connections that produce to, fetch from and change one partition at once."""

from __future__ import annotations

from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.logs import (
    batch,
    expect_log,
    expect_values,
    fetch_fields,
    produced,
    produced_topic,
    usable_version,
)
from barnabas.conform.offsets import delete_records
from barnabas.conform.producers import new_producer

NEEDS: Final = {"Produce": 3, "Fetch": 4}

PRODUCED: Final = "responses[0].partition_responses[0]"
FETCHED: Final = "responses[0].partitions[0]"


@check("produce/concurrent", "UnifiedLog.append", needs=NEEDS)
async def concurrent(broker: Broker) -> None:
    """Batches that several connections produce at once get offsets of their own, without gaps."""
    topic = await broker.topic()
    version = await usable_version(broker, "Produce", topic)
    name = await produced_topic(broker, topic, version)
    producers = [await broker.leader(topic, fresh=True) for _ in range(8)]
    for number, producer in enumerate(producers):
        rows = [{"index": 0, "records": batch(f"{number}a", f"{number}b")}]
        await producer.write(
            "Produce",
            version,
            acks=-1,
            timeout_ms=10_000,
            topic_data=[{**name, "partition_data": rows}],
        )
    stored = {}
    for number, producer in enumerate(producers):
        response = (await producer.read()).at(PRODUCED).expect(error_code="NONE")
        stored[response["base_offset"]] = number
    if sorted(stored) != list(range(0, 16, 2)):
        raise response.failed("base_offset", "offsets 0, 2, ... 14", f"{sorted(stored)}")
    values = [f"{number}{name}" for _, number in sorted(stored.items()) for name in "ab"]
    await expect_log(broker, topic, *values)


@check("idempotence/concurrent-duplicate", "KIP-98", needs={**NEEDS, "InitProducerId": 0})
async def concurrent_duplicate(broker: Broker) -> None:
    """A batch that two connections produce at once is stored once, and both get its offset."""
    producer = await new_producer(broker)
    version = await usable_version(broker, "Produce", producer.topic)
    name = await produced_topic(broker, producer.topic, version)
    connections = [await broker.leader(producer.topic, fresh=True) for _ in range(2)]
    data = batch(
        "a", time_ms=broker.time_ms, producer_id=producer.id, producer_epoch=0, base_sequence=0
    )
    for connection in connections:
        await connection.write(
            "Produce",
            version,
            acks=-1,
            timeout_ms=10_000,
            topic_data=[{**name, "partition_data": [{"index": 0, "records": data}]}],
        )
    for connection in connections:
        (await connection.read()).at(PRODUCED).expect(error_code="NONE", base_offset=0)
    await expect_log(broker, producer.topic, "a")


@check("fetch/several-waiting", "DelayedFetch", needs=NEEDS)
async def several_waiting(broker: Broker) -> None:
    """All Fetches that wait for a partition are answered when records arrive."""
    topic = await broker.topic()
    version = await usable_version(broker, "Fetch", topic)
    consumers = [await broker.leader(topic, fresh=True) for _ in range(4)]
    body = await fetch_fields(broker, topic, 0, version, max_wait_ms=20_000)
    for consumer in consumers:
        await consumer.write("Fetch", version, **body)
    await consumers[0].expect_silence(0.2)
    await produced(broker, topic, "a")
    for consumer in consumers:
        expect_values((await consumer.read(5)).at(FETCHED), "a")


@check("fetch/waiting-blocks-no-other", "SocketServer; RequestChannel", needs=NEEDS)
async def waiting_blocks_no_other(broker: Broker) -> None:
    """A Fetch that waits on one connection does not delay requests of another one."""
    topic = await broker.topic()
    version = await usable_version(broker, "Fetch", topic)
    waiting = [await broker.leader(topic, fresh=True) for _ in range(16)]
    body = await fetch_fields(broker, topic, 0, version, max_wait_ms=20_000)
    for consumer in waiting:
        await consumer.write("Fetch", version, **body)
    other = await broker.leader(topic, fresh=True)
    await other.write("ApiVersions", 0)
    (await other.read(5)).expect(error_code="NONE")


@check("fetch/pipelined", "SocketServer", needs=NEEDS)
async def pipelined(broker: Broker) -> None:
    """Fetches that are in flight together on a connection are answered in order."""
    topic = await broker.topic()
    await produced(broker, topic, "a")
    await produced(broker, topic, "b")
    version = await usable_version(broker, "Fetch", topic)
    leader = await broker.leader(topic)
    bodies = [
        await fetch_fields(broker, topic, offset, version, max_wait_ms=300) for offset in (2, 1)
    ]
    for body in bodies:
        await leader.write("Fetch", version, **body)
    expect_values((await leader.read()).at(FETCHED))
    expect_values((await leader.read()).at(FETCHED), "b")


@check(
    "idempotence/after-delete-records",
    "KIP-360",
    level=SHOULD,
    needs={**NEEDS, "InitProducerId": 0, "DeleteRecords": 0},
)
async def after_delete_records(broker: Broker) -> None:
    """A producer goes on with its sequence numbers after its records were deleted."""
    producer = await new_producer(broker)
    await producer.sent(0, "a", "b")
    (await delete_records(broker, producer.topic, -1)).expect(error_code="NONE")
    (await producer.send(2, "c")).expect(error_code="NONE", base_offset=2)


CHECKS: Final[tuple[Check, ...]] = (
    concurrent,
    concurrent_duplicate,
    several_waiting,
    waiting_blocks_no_other,
    pipelined,
    after_delete_records,
)
