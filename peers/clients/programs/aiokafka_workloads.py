"""Workloads of aiokafka, of any release since 0.7."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener
from aiokafka.errors import KafkaError
from lines import GaveUpError, Work

logging.getLogger("aiokafka").setLevel(logging.CRITICAL)


@contextlib.asynccontextmanager
async def _started(client: Any) -> AsyncIterator[Any]:
    """Start a client and stop it, even if it does not start: as its own `async with` does not."""
    try:
        await client.start()
        yield client
    finally:
        await client.stop()


def _producer(work: Work, **own: Any) -> Any:
    settings = {"bootstrap_servers": work.bootstrap, "client_id": "producer"}
    return _started(AIOKafkaProducer(**{**settings, **own}))


async def _send(work: Work, producer: Any, record: str, transaction: str | None) -> Any:
    work.sent(record, transaction)
    return await producer.send(work.topic, record.encode(), key=record.encode())


async def _acknowledged(work: Work, record: str, future: Any) -> None:
    done, _ = await asyncio.wait([future], timeout=work.patience)
    if not done:
        raise GaveUpError(f"{record} is neither acknowledged nor failed")
    told = future.result()
    work.acknowledged(record, told.partition, told.offset)


async def produce(work: Work) -> int:
    """Send records, one after the other."""
    return await _send_all(work)


async def idempotent(work: Work) -> int:
    """The same, each written once."""
    return await _send_all(work, enable_idempotence=True)


async def _send_all(work: Work, **own: Any) -> int:
    async with _producer(work, **own) as producer:
        waiting = []
        for record in work.ids:
            waiting.append((record, await _send(work, producer, record, None)))
            await asyncio.sleep(work.pause)
        for record, future in waiting:
            await _acknowledged(work, record, future)
    return 0


async def transact(work: Work) -> int:
    """Send records in transactions, each third aborted."""
    async with _producer(work, transactional_id=work.group) as producer:
        for number, batch in enumerate(work.batches):
            name = str(number)
            await producer.begin_transaction()
            waiting = [(record, await _send(work, producer, record, name)) for record in batch]
            for record, future in waiting:
                await _acknowledged(work, record, future)
            if work.aborts(number):
                await producer.abort_transaction()
                work.ended(name, "aborted")
            else:
                await producer.commit_transaction()
                work.ended(name, "committed")
    return 0


async def group(work: Work) -> int:
    """Read all records in a group, committing what was read."""

    class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
        def on_partitions_revoked(self, revoked: Any) -> None:
            pass

        def on_partitions_assigned(self, assigned: Any) -> None:
            work.assigned(assigned)

    consumer = AIOKafkaConsumer(
        bootstrap_servers=work.bootstrap,
        client_id="reader",
        group_id=work.group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    work.consumer()
    consumer.subscribe([work.topic], listener=Listener())
    missing = set(work.ids)
    async with _started(consumer):
        until = work.until
        while missing or work.stays:
            if time.monotonic() > until:
                raise GaveUpError(f"{len(missing)} records were not delivered")
            found = await consumer.getmany(timeout_ms=100, max_records=work.at_once)
            ends = {}
            for place, records in found.items():
                for one in records:
                    work.consumed(one.topic, one.partition, one.offset, one.value)
                    missing.discard(one.value.decode())
                    ends[place] = one.offset + 1
            if not ends:
                continue
            try:
                await consumer.commit(ends)
            except KafkaError:  # it was not committed: it may come again
                continue
            for (topic, partition), offset in ends.items():
                work.committed(topic, partition, offset)
    return len(work.ids)
