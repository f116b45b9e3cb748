"""The demo's clients: confluent-kafka (librdkafka) and aiokafka, through the proxy."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

Received = dict[int, list[str]]
"""The values by partition, in the order in which they arrived."""

DEADLINE: Final = 20.0
"""Seconds after which a step fails; usually it takes a few."""


def produce(
    bootstrap: str, topic: str, values: Iterable[str], *, partitions: int = 4, **settings: Any
) -> Received:
    """Send values with confluent-kafka; return them by partition in the order in which they were sent."""
    from confluent_kafka import Producer

    sent: Received = defaultdict(list)
    producer = Producer(
        {"bootstrap.servers": bootstrap, "client.id": topic, "log_level": 0, **settings}
    )
    for number, value in enumerate(values):
        partition = number % partitions
        producer.produce(topic, value=value, key=f"key-{number}", partition=partition)
        sent[partition].append(value)
    unacknowledged = producer.flush(DEADLINE)
    if unacknowledged:
        raise TimeoutError(
            f"{unacknowledged} records of {topic} were not acknowledged in {DEADLINE:g} s"
        )
    return dict(sent)


def brokers_known(bootstrap: str) -> set[tuple[str, int]]:
    """Return the brokers' addresses as a client learns them."""
    from confluent_kafka.admin import AdminClient

    admin = AdminClient({"bootstrap.servers": bootstrap, "client.id": "demo", "log_level": 0})
    brokers = admin.list_topics(timeout=DEADLINE).brokers.values()
    return {(broker.host, broker.port) for broker in brokers}


class _GroupReceipts:
    """The records that the members of a group received."""

    def __init__(self) -> None:
        self.received: Received = defaultdict(list)
        self.values: set[str] = set()
        self.counts = [0, 0]

    def add(self, member: int, messages: Sequence[Any]) -> None:
        """Count the records that a member received."""
        for message in messages:
            if message.error():  # the client retries by itself
                continue
            value = message.value().decode()
            self.received[message.partition()].append(value)
            self.values.add(value)
            self.counts[member] += 1


def consume_with_rebalance(
    bootstrap: str, group: str, topic: str, more: Callable[[], int]
) -> tuple[Received, int, int]:
    """Consume a topic in a group of one member, then of two, with asynchronous commits.

    The second member joins after 100 records.

    Args:
        bootstrap: The proxy's address.
        group: The group's id.
        topic: The topic.
        more: Sends records for both members, and returns the number of all records.

    Returns:
        The values by partition, and how many records each member received.
    """
    from confluent_kafka import Consumer

    def member(name: str) -> Any:
        return Consumer(
            {
                "bootstrap.servers": bootstrap,
                "client.id": name,
                "group.id": group,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                # the mock cluster ends a rebalance 1 s before the session times out: members learn of it by
                # a heartbeat, and a member that joins too late starts the next rebalance
                "session.timeout.ms": 2000,
                "heartbeat.interval.ms": 300,
                "partition.assignment.strategy": "range",
                "fetch.wait.max.ms": 100,
                "log_level": 0,
            }
        )

    received = _GroupReceipts()
    members = [member(f"{topic}-a")]
    members[0].subscribe([topic])
    total = None
    end = time.monotonic() + DEADLINE
    try:
        while (
            total is None
            or len(received.values) < total
            or (len(members) > 1 and not received.counts[1])
        ):
            if time.monotonic() > end:
                raise TimeoutError(
                    f"{len(received.values)} of {total} records arrived in {DEADLINE:g} s"
                )
            for index, consumer in enumerate(members):
                messages = consumer.consume(50, timeout=0.05)
                received.add(index, messages)
                if messages:
                    consumer.commit(asynchronous=True)
            if len(members) == 1 and len(received.values) >= 100:
                members.append(member(f"{topic}-b"))
                members[1].subscribe([topic])
            elif total is None and len(members) == 2 and members[1].assignment():
                total = more()
    finally:
        for consumer in members:
            consumer.close()
    return dict(received.received), received.counts[0], received.counts[1]


def consume_once(bootstrap: str, topic: str, total: int) -> Received:
    """Read a topic's partitions from their beginnings, without a group."""
    from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "client.id": f"{topic}-reader",
            "group.id": f"{topic}-reader",
            "enable.auto.commit": False,
            "fetch.wait.max.ms": 100,
            "log_level": 0,
        }
    )
    received: Received = defaultdict(list)
    count = 0
    end = time.monotonic() + DEADLINE
    try:
        consumer.assign([TopicPartition(topic, p, OFFSET_BEGINNING) for p in range(4)])
        while count < total:
            if time.monotonic() > end:
                raise TimeoutError(f"{count} of {total} records arrived in {DEADLINE:g} s")
            for message in consumer.consume(100, timeout=0.1):
                if not message.error():
                    received[message.partition()].append(message.value().decode())
                    count += 1
    finally:
        consumer.close()
    return dict(received)


def aiokafka_round(bootstrap: str, topic: str, values: list[str]) -> tuple[Received, Received]:
    """Produce and consume in a group with aiokafka; return what was sent and what arrived."""
    return asyncio.run(_aiokafka_round(bootstrap, topic, values))


async def _aiokafka_round(
    bootstrap: str, topic: str, values: list[str]
) -> tuple[Received, Received]:
    from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

    sent: Received = defaultdict(list)
    received: Received = defaultdict(list)
    async with AIOKafkaProducer(bootstrap_servers=bootstrap, client_id=topic) as producer:
        for number, value in enumerate(values):
            await producer.send(topic, value.encode(), partition=number % 4)
            sent[number % 4].append(value)
        await producer.flush()
    consumer = AIOKafkaConsumer(
        topic,
        bootstrap_servers=bootstrap,
        client_id=topic,
        group_id=f"{topic}-group",
        auto_offset_reset="earliest",
        session_timeout_ms=6000,
        heartbeat_interval_ms=300,
        request_timeout_ms=3000,
        fetch_max_wait_ms=100,
    )
    async with consumer, asyncio.timeout(DEADLINE):
        count = 0
        while count < len(values):
            for batch in (await consumer.getmany(timeout_ms=200)).values():
                for record in batch:
                    received[record.partition].append(record.value.decode())
                    count += 1
        await consumer.commit()
    return dict(sent), dict(received)
