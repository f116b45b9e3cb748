"""What a broker keeps over a restart."""

from __future__ import annotations

from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.logs import batch, expect_log, produce, produced
from barnabas.conform.offsets import EARLIEST, delete_records, list_offsets
from barnabas.conform.producers import new_producer
from barnabas.conform.sessions import open_session

NEEDS: Final = {"Produce": 3, "Fetch": 4}


async def restart(broker: Broker, topic: str) -> None:
    """Restart the broker, and wait until it serves a topic again."""
    await broker.restart()
    await broker.wait_served(topic)


@check("produce/after-restart", "ProduceRequest.json, acks", needs=NEEDS, alone=True)
async def acknowledged(broker: Broker) -> None:
    """Acknowledged records are there after a restart, and the next one gets the next offset."""
    topic = await broker.topic()
    for value in "abc":
        await produced(broker, topic, value)
    await restart(broker, topic)
    (await produce(broker, topic, batch("d"))).expect(error_code="NONE", base_offset=3)
    await expect_log(broker, topic, "a", "b", "c", "d")


@check(
    "idempotence/after-restart",
    "KIP-98; ProducerStateManager",
    needs={**NEEDS, "InitProducerId": 0},
    alone=True,
)
async def producers(broker: Broker) -> None:
    """The broker recognizes a producer's batches of before a restart, and serves new producers."""
    producer = await new_producer(broker)
    await producer.sent(0, "a", "b")
    await restart(broker, producer.topic)
    (await producer.send(0, "a", "b")).expect(error_code="NONE", base_offset=0)
    (await producer.send(2, "c")).expect(error_code="NONE", base_offset=2)
    await expect_log(broker, producer.topic, "a", "b", "c")
    other = await new_producer(broker, producer.topic)
    (await other.send(0, "d")).expect(error_code="NONE", base_offset=3)


@check(
    "delete-records/after-restart",
    "KIP-107",
    level=SHOULD,
    needs={**NEEDS, "DeleteRecords": 0, "ListOffsets": 1},
    alone=True,
)
async def deleted(broker: Broker) -> None:
    """Deleted records are still deleted after a restart.

    Apache Kafka notes the start of a log once a minute and when it stops, so kill -9 undeletes records.
    """
    topic = await broker.topic()
    for value in "abc":
        await produced(broker, topic, value)
    (await delete_records(broker, topic, 2)).expect(error_code="NONE", low_watermark=2)
    await restart(broker, topic)
    (await list_offsets(broker, topic, EARLIEST)).expect(error_code="NONE", offset=2)


@check("session/after-restart", "KIP-227", needs={**NEEDS, "Fetch": 7}, alone=True)
async def session(broker: Broker) -> None:
    """A fetch session of before a restart is unknown: FETCH_SESSION_ID_NOT_FOUND."""
    topic = await broker.topic()
    opened = await open_session(broker, topic, await broker.leader(topic), {0: 0})
    await restart(broker, topic)
    opened.leader = await broker.leader(topic)
    (await opened.fetch({})).expect(error_code="FETCH_SESSION_ID_NOT_FOUND")


CHECKS: Final[tuple[Check, ...]] = (
    acknowledged,
    producers,
    deleted,
    session,
)
