"""Sessions of aiokafka, of any release since 0.7."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from lines import JOINING, POLLING, RECORDS, SECONDS, delivered, wanted

try:
    from aiokafka.admin import AIOKafkaAdminClient
except ImportError:  # before 0.8
    AIOKafkaAdminClient = None

WAIT = 0.7
"""Seconds that other calls may take: this program's own timeout, not a setting of the client."""

COMMON = {
    "client_id": "barnabas",
    "request_timeout_ms": 800,
    "retry_backoff_ms": 5,
    "metadata_max_age_ms": 60_000,
}


def _new_client(kind: Any, *arguments: Any, **overrides: Any) -> Any:
    """Create a client with the settings that this release knows."""
    known = inspect.signature(kind).parameters
    settings = {**COMMON, **overrides}
    return kind(*arguments, **{name: value for name, value in settings.items() if name in known})


async def _with_timeout(call: Awaitable[Any]) -> Any:
    """Await a call until it ends, WAIT has passed (None), or the session is over (None)."""
    return await _within(call, wanted)


async def _close(call: Awaitable[Any]) -> Any:
    """Await a call that closes a client, for WAIT at most, even if the session is over."""
    return await _within(call, lambda until: time.monotonic() < until)


async def _within(call: Awaitable[Any], continues: Callable[[float], bool]) -> Any:
    task, until = asyncio.ensure_future(call), time.monotonic() + WAIT
    while continues(until):
        done, _ = await asyncio.wait([task], timeout=0.02)
        if done:
            return task.result()
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        return await task
    return None


def _consumer(bootstrap: str, group: str | None, *topics: str, **settings: Any) -> Any:
    return _new_client(
        AIOKafkaConsumer,
        *topics,
        bootstrap_servers=bootstrap,
        group_id=group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        fetch_max_wait_ms=20,
        session_timeout_ms=700,
        heartbeat_interval_ms=100,
        rebalance_timeout_ms=700,
        **settings,
    )


async def _read(consumer: Any, more: float = 0.0) -> int:
    records, until = 0, time.monotonic() + SECONDS + more
    while records < RECORDS:
        last = not wanted(until)
        batches = await consumer.getmany(timeout_ms=0 if last else int(POLLING * 1e3))
        polled = [record for batch in batches.values() for record in batch]
        for record in polled:
            position = record.partition, record.offset, record.timestamp
            delivered(*position, record.key, record.value, record.headers)
        records += len(polled)
        if last and not polled:
            break
    return records


async def sasl(bootstrap: str, topic: str) -> int:
    """Authenticate by SASL PLAIN, then read both partitions without a group."""
    return await consume(
        bootstrap,
        topic,
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="PLAIN",
        sasl_plain_username="barnabas",
        sasl_plain_password="secret",  # noqa: S106 (nobody checks it)
    )


async def consume(bootstrap: str, topic: str, **settings: Any) -> int:
    """Read both partitions without a group."""
    consumer = _consumer(bootstrap, None, **settings)
    try:
        await _with_timeout(consumer.start())
        places = [TopicPartition(topic, number) for number in range(2)]
        consumer.assign(places)
        records = await _read(consumer)
        await _with_timeout(consumer.end_offsets(places))
        await _with_timeout(consumer.offsets_for_times({places[0]: 0}))
        return records
    finally:
        await _close(consumer.stop())


async def read_committed(bootstrap: str, topic: str) -> int:
    """Read both partitions without aborted records."""
    return await consume(bootstrap, topic, isolation_level="read_committed")


async def sticky(bootstrap: str, topic: str) -> int:
    """Run the session `group` with the sticky assignor."""
    path = "aiokafka.coordinator.assignors.sticky.sticky_assignor"
    try:
        assignor = importlib.import_module(path).StickyPartitionAssignor
    except ImportError:  # before 0.9 it is kafka-python's
        return 0
    return await group(bootstrap, topic, partition_assignment_strategy=(assignor,))


async def group(bootstrap: str, topic: str, **settings: Any) -> int:
    """Join a group, read, commit, ask what is committed, leave."""
    consumer = _consumer(bootstrap, "bench-group", topic, **settings)
    try:
        await _with_timeout(consumer.start())
        records = await _read(consumer, JOINING)
        if records:
            await _with_timeout(consumer.commit())
            await _with_timeout(consumer.committed(TopicPartition(topic, 0)))
        return records
    finally:
        await _close(consumer.stop())


async def produce(bootstrap: str, topic: str) -> int:
    """Send a few records and wait for their acknowledgement."""
    return await _send(
        _new_client(AIOKafkaProducer, bootstrap_servers=bootstrap, acks="all"), topic
    )


async def transaction(bootstrap: str, topic: str) -> int:
    """Send in a transaction, offsets of a group as well, and commit it."""
    settings = {"transactional_id": "bench-txn", "transaction_timeout_ms": 1000}
    return await _send(
        _new_client(AIOKafkaProducer, bootstrap_servers=bootstrap, **settings),
        topic,
        transactional=True,
    )


async def _send(producer: Any, topic: str, *, transactional: bool = False) -> int:
    try:
        await _with_timeout(producer.start())
        if transactional:
            await _with_timeout(producer.begin_transaction())
        await _with_timeout(producer.send_and_wait(topic, b"value", partition=0))
        if transactional:
            offsets = {TopicPartition(topic, 0): 3}
            await _with_timeout(producer.send_offsets_to_transaction(offsets, "bench-group"))
            await _with_timeout(producer.commit_transaction())
        return 0
    finally:
        await _close(producer.stop())


async def admin(bootstrap: str, topic: str) -> int:
    """Ask what an administrator asks."""
    if AIOKafkaAdminClient is None:
        return 0
    client = _new_client(AIOKafkaAdminClient, bootstrap_servers=bootstrap)
    until = time.monotonic() + WAIT
    try:
        await _with_timeout(client.start())
        asks: tuple[Callable[[], Awaitable[Any]], ...] = (
            lambda: client.list_topics(),
            lambda: client.describe_topics([topic]),
            lambda: client.describe_cluster(),
            lambda: client.list_consumer_groups(),
            lambda: client.describe_consumer_groups(["bench-group"]),
            lambda: client.list_consumer_group_offsets("bench-group"),
        )
        for ask in asks:
            if wanted(until):
                await _with_timeout(ask())
        return 0
    finally:
        await _close(client.close())
