"""Sessions of aiokafka, of any release since 0.8."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from lines import JOINING, POLLING, RECORDS, SECONDS, delivered, wanted

WAIT = 0.7
"""Seconds that anything else is waited for at most: this program's own patience, no word of the client's."""

COMMON = {
    "client_id": "barnabas",
    "request_timeout_ms": 800,
    "retry_backoff_ms": 5,
    "metadata_max_age_ms": 60_000,
}


def _made(kind: Any, *arguments: Any, **own: Any) -> Any:
    """A client with those settings that this release knows."""
    known = inspect.signature(kind).parameters
    settings = {**COMMON, **own}
    return kind(*arguments, **{name: value for name, value in settings.items() if name in known})


async def _patient(what: Awaitable[Any]) -> Any:
    """Its result, or None after too long, or when the session is over."""
    return await _within(what, wanted)


async def _closed(what: Awaitable[Any]) -> Any:
    """The same of what ends a session: it has its time also when that is over."""
    return await _within(what, lambda until: time.monotonic() < until)


async def _within(what: Awaitable[Any], more: Callable[[float], bool]) -> Any:
    task, until = asyncio.ensure_future(what), time.monotonic() + WAIT
    while more(until):
        done, _ = await asyncio.wait([task], timeout=0.02)
        if done:
            return task.result()
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        return await task
    return None


def _consumer(bootstrap: str, group: str | None, *topics: str, **own: Any) -> Any:
    return _made(
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
        **own,
    )


async def _read(consumer: Any, more: float = 0.0) -> int:
    records, until = 0, time.monotonic() + SECONDS + more
    while records < RECORDS:
        last = not wanted(until)
        got = await consumer.getmany(timeout_ms=0 if last else int(POLLING * 1e3))
        found = [one for some in got.values() for one in some]
        for one in found:
            place = one.partition, one.offset, one.timestamp
            delivered(*place, one.key, one.value, one.headers)
        records += len(found)
        if last and not found:
            break
    return records


async def sasl(bootstrap: str, topic: str) -> int:
    """The same behind a login."""
    return await consume(
        bootstrap,
        topic,
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="PLAIN",
        sasl_plain_username="barnabas",
        sasl_plain_password="secret",  # noqa: S106 (nobody checks it)
    )


async def consume(bootstrap: str, topic: str, **own: Any) -> int:
    """Read both partitions without a group."""
    consumer = _consumer(bootstrap, None, **own)
    try:
        await _patient(consumer.start())
        places = [TopicPartition(topic, number) for number in range(2)]
        consumer.assign(places)
        records = await _read(consumer)
        await _patient(consumer.end_offsets(places))
        await _patient(consumer.offsets_for_times({places[0]: 0}))
        return records
    finally:
        await _closed(consumer.stop())


async def group(bootstrap: str, topic: str) -> int:
    """Join a group, read, commit, ask what is committed, leave."""
    consumer = _consumer(bootstrap, "bench-group", topic)
    try:
        await _patient(consumer.start())
        records = await _read(consumer, JOINING)
        if records:
            await _patient(consumer.commit())
            await _patient(consumer.committed(TopicPartition(topic, 0)))
        return records
    finally:
        await _closed(consumer.stop())


async def produce(bootstrap: str, topic: str) -> int:
    """Send a few records and wait for their acknowledgement."""
    return await _send(_made(AIOKafkaProducer, bootstrap_servers=bootstrap, acks="all"), topic)


async def transaction(bootstrap: str, topic: str) -> int:
    """Send in a transaction, offsets of a group as well, and commit it."""
    own = {"transactional_id": "bench-txn", "transaction_timeout_ms": 1000}
    return await _send(_made(AIOKafkaProducer, bootstrap_servers=bootstrap, **own), topic, own=True)


async def _send(producer: Any, topic: str, *, own: bool = False) -> int:
    try:
        await _patient(producer.start())
        if own:
            await _patient(producer.begin_transaction())
        await _patient(producer.send_and_wait(topic, b"value", partition=0))
        if own:
            offsets = {TopicPartition(topic, 0): 3}
            await _patient(producer.send_offsets_to_transaction(offsets, "bench-group"))
            await _patient(producer.commit_transaction())
        return 0
    finally:
        await _closed(producer.stop())


async def admin(bootstrap: str, topic: str) -> int:
    """Ask what an administrator asks."""
    client = _made(AIOKafkaAdminClient, bootstrap_servers=bootstrap)
    until = time.monotonic() + WAIT
    try:
        await _patient(client.start())
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
                await _patient(ask())
        return 0
    finally:
        await _closed(client.close())
