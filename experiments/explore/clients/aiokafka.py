"""The round with aiokafka."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from barnabas.experiments.explore.clients.work import PATIENCE, Work, is_aborted
from barnabas.experiments.explore.history import Acknowledged, OffsetCommitted, Sent


async def produce(work: Work) -> set[str]:
    """Send all; the ids of those that are to be read."""
    from aiokafka import AIOKafkaProducer

    acknowledged: set[str] = set()
    async with _started(AIOKafkaProducer(**_settings(work, enable_idempotence=True))) as producer:
        for batch in work.batches():
            waiting = [await _send(work, producer, record, None) for record in batch]
            for record, future in zip(batch, waiting, strict=True):
                _acknowledged(work, record, await future)
                acknowledged.add(record)
    return acknowledged


async def transact(work: Work) -> set[str]:
    """Send all in transactions; the ids of those that are to be read."""
    from aiokafka import AIOKafkaProducer

    committed: set[str] = set()
    settings = _settings(work, transactional_id=work.group)
    async with _started(AIOKafkaProducer(**settings)) as producer:
        for number, batch in enumerate(work.batches()):
            name = str(number)
            await producer.begin_transaction()
            waiting = [await _send(work, producer, record, name) for record in batch]
            for record, future in zip(batch, waiting, strict=True):
                _acknowledged(work, record, await future)
            if is_aborted(number):
                await producer.abort_transaction()
                work.ended(name, "aborted")
            else:
                await producer.commit_transaction()
                work.ended(name, "committed")
                committed.update(batch)
    return committed


@contextlib.asynccontextmanager
async def _started(client: Any) -> AsyncIterator[Any]:
    """Start a client and stop it, even if it does not start: as its own `async with` does not."""
    try:
        await client.start()
        yield client
    finally:
        await client.stop()


def _settings(work: Work, **more: Any) -> dict[str, Any]:
    return {
        "bootstrap_servers": work.bootstrap,
        "client_id": "producer",
        "request_timeout_ms": int(PATIENCE * 1000),
        **more,
        **work.settings,
    }


async def _send(work: Work, producer: Any, record: str, transaction: str | None) -> Any:
    work.tell(Sent(id=record, topic=work.topic, transaction=transaction))
    return await producer.send(work.topic, record.encode(), key=record.encode())


def _acknowledged(work: Work, record: str, told: Any) -> None:
    offset = told.offset if told.offset >= 0 else None  # deduplicated: unknown
    work.tell(Acknowledged(id=record, topic=told.topic, partition=told.partition, offset=offset))


async def consume(work: Work, wanted: set[str]) -> None:
    """Read in a group until all that is wanted has come, committing what was read."""
    from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener
    from aiokafka.errors import KafkaError

    name = "consumer-1"

    class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
        def on_partitions_revoked(self, revoked: Any) -> None:
            pass

        def on_partitions_assigned(self, assigned: Any) -> None:
            work.assigned(name, assigned)

    work.declare(name)
    consumer = AIOKafkaConsumer(
        bootstrap_servers=work.bootstrap,
        client_id="consumer",
        group_id=work.group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        isolation_level=work.isolation,
        session_timeout_ms=6000,
        heartbeat_interval_ms=300,
        request_timeout_ms=3000,
        fetch_max_wait_ms=100,
    )
    consumer.subscribe([work.topic], listener=Listener())
    missing = set(wanted)
    async with _started(consumer), asyncio.timeout(PATIENCE):
        while missing:
            got = await consumer.getmany(timeout_ms=200)
            for records in got.values():
                for one in records:
                    at = one.topic, one.partition, one.offset
                    missing.discard(work.consumed(name, one.value, *at))
            positions = {place: records[-1].offset + 1 for place, records in got.items() if records}
            if not positions:
                continue
            try:
                await consumer.commit(positions)
            except KafkaError:  # it was not committed: it may come again
                continue
            for (topic, partition), offset in positions.items():
                work.tell(
                    OffsetCommitted(
                        group=work.group, topic=topic, partition=partition, offset=offset
                    )
                )


async def _round(work: Work) -> None:
    await consume(work, await (transact(work) if work.transactions else produce(work)))


def run(work: Work) -> None:
    """The whole round."""
    asyncio.run(_round(work))
