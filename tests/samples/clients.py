"""What passes in the samples: small jobs of healthy clients."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from confluent_kafka import Consumer, Producer

from tests.waiting import SOON, until

READER: Final = {
    "auto.offset.reset": "earliest",
    "enable.auto.commit": False,
    "fetch.wait.max.ms": 300,
    "log_level": 0,
}


def produce(
    bootstrap: str, topic: str, count: int, *, size: int = 20, more: Mapping[str, str] | None = None
) -> None:
    """Send records one by one with librdkafka."""
    own = {"bootstrap.servers": bootstrap, "client.id": "writer", "linger.ms": 0, "log_level": 0}
    producer = Producer({**own, **(more or {})})
    for number in range(count):
        value = f"order {number} ".ljust(size, "x")
        producer.produce(topic, key=f"k{number}", value=value, partition=number % 2)
        if number % 4 == 3 and producer.flush(SOON):
            raise TimeoutError("not acknowledged")
    if producer.flush(SOON):
        raise TimeoutError("not acknowledged")


def member(bootstrap: str, topic: str, name: str = "reader", **settings: Any) -> Consumer:
    """A member of the group `readers` with librdkafka."""
    own = {"bootstrap.servers": bootstrap, "client.id": name, "group.id": "readers", **READER}
    consumer = Consumer({**own, **settings})
    consumer.subscribe([topic])
    return consumer


def read(count: int, *members: Consumer) -> None:
    """Poll members until they have so many records together."""
    got = 0

    def all_there() -> bool:
        nonlocal got
        for one in members:
            got += sum(not record.error() for record in one.consume(100, timeout=0.1))
        return got >= count

    until(all_there, "all records")


def settle(*members: Consumer, each: int) -> None:
    """Poll members until each has so many partitions."""

    def shared() -> bool:
        for one in members:
            one.consume(100, timeout=0.1)
        return all(len(one.assignment()) == each for one in members)

    until(shared, "the members share")


def aiokafka_group(bootstrap: str, topic: str, count: int) -> None:
    """Send and read records with aiokafka, in a group of two, of which one comes later and leaves."""
    asyncio.run(_aiokafka_group(bootstrap, topic, count))


async def _aiokafka_group(bootstrap: str, topic: str, count: int) -> None:
    from aiokafka import AIOKafkaConsumer

    own: dict[str, Any] = {
        "bootstrap_servers": bootstrap,
        "group_id": "readers",
        "auto_offset_reset": "earliest",
        "enable_auto_commit": False,
        "heartbeat_interval_ms": 500,
    }
    first = AIOKafkaConsumer(topic, client_id="first", **own)
    second = AIOKafkaConsumer(topic, client_id="second", **own)
    await _aiokafka_produce(bootstrap, topic, count)
    await first.start()
    got = 0
    async with asyncio.timeout(SOON):
        while got < count:
            batches = await first.getmany(timeout_ms=100)
            got += sum(map(len, batches.values()))
        await first.commit()
        await second.start()
        while not (len(first.assignment()) == len(second.assignment()) == 1):
            await first.getmany(timeout_ms=50)
            await second.getmany(timeout_ms=50)
    await second.stop()
    await first.stop()


def aiokafka_produce(bootstrap: str, topic: str, count: int, **settings: Any) -> None:
    """Send records with aiokafka."""
    asyncio.run(_aiokafka_produce(bootstrap, topic, count, **settings))


async def _aiokafka_produce(bootstrap: str, topic: str, count: int, **settings: Any) -> None:
    from aiokafka import AIOKafkaProducer

    own = {"bootstrap_servers": bootstrap, "client_id": "writer", **settings}
    async with AIOKafkaProducer(**own) as producer:
        for number in range(count):
            await producer.send_and_wait(topic, f"order {number}".encode(), partition=number % 2)
