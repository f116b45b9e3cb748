"""Workloads of aiokafka, of any release since 0.7: those that write."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable
from typing import Any

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, ProducerFenced
from work import GaveUpError, Work

logging.getLogger("aiokafka").setLevel(logging.CRITICAL)


@contextlib.asynccontextmanager
async def started(client: Any) -> AsyncIterator[Any]:
    """Start a client and stop it, even if it does not start: as its own `async with` does not."""
    try:
        await client.start()
        yield client
    finally:
        await client.stop()


def make_producer(work: Work, **own: Any) -> Any:
    """One of these settings; else it has the library's."""
    settings = {"bootstrap_servers": work.bootstrap, "client_id": "producer"}
    return started(AIOKafkaProducer(**{**settings, **own}))


async def send(
    work: Work, producer: Any, record: str, transaction: str | None, topic: str | None = None
) -> Any:
    """Hand a record to it; topic: another than the work's."""
    work.sent(record, transaction, topic)
    return await producer.send(topic or work.topic, record.encode(), key=record.encode())


async def acknowledged(work: Work, record: str, future: Any, topic: str | None = None) -> None:
    """Wait until it is. Raises GaveUpError, and what the client does."""
    done, _ = await asyncio.wait([future], timeout=work.patience)
    if not done:
        raise GaveUpError(f"{record} is neither acknowledged nor failed")
    told = future.result()
    work.acknowledged(record, told.partition, told.offset, topic)


async def produce(work: Work) -> int:
    """Send records, one after the other."""
    return await _send_all(work, work.ids)


async def idempotent(work: Work) -> int:
    """The same, each written once."""
    return await _send_all(work, work.ids, enable_idempotence=True)


async def compressed(work: Work) -> int:
    """The same with each compression, by a producer of its own."""
    for codec, ids in work.coded:
        await _send_all(work, ids, compression_type=None if codec == "none" else codec)
    return 0


async def _send_all(work: Work, ids: list[str], **own: Any) -> int:
    async with make_producer(work, **own) as producer:
        waiting = []
        for record in ids:
            waiting.append((record, await send(work, producer, record, None)))
            await asyncio.sleep(work.pause)
        for record, future in waiting:
            await acknowledged(work, record, future)
    return 0


async def transact(work: Work) -> int:
    """Send records in transactions, each third aborted; one that can be is tried again."""
    async with make_producer(work, transactional_id=work.group) as producer:
        for number, batch in enumerate(work.batches):
            for attempt in range(work.attempts):
                name = f"{number}.{attempt}"
                if await _transaction(work, producer, name, batch, work.aborts(number)):
                    break
            else:
                raise GaveUpError(f"transaction {number} was aborted {work.attempts} times")
    return 0


async def _transaction(
    work: Work, producer: Any, name: str, batch: list[str], aborts: bool
) -> bool:
    """False: it was aborted, and may be tried again."""
    await in_time(work, producer.begin_transaction())
    try:
        waiting = [(record, await send(work, producer, record, name)) for record in batch]
        for record, future in waiting:
            await acknowledged(work, record, future)
        if aborts:
            await in_time(work, producer.abort_transaction())
            work.ended(name, "aborted")
        else:
            await in_time(work, producer.commit_transaction())
            work.ended(name, "committed")
        return True
    except KafkaError as problem:
        await abort(work, producer, name, problem)
        return False


async def abort(work: Work, producer: Any, name: str, problem: KafkaError) -> None:
    """Abort a transaction in which this was raised. Raises it where the producer can't go on."""
    if isinstance(problem, ProducerFenced):
        raise problem
    try:
        await in_time(work, producer.abort_transaction())
    except AssertionError:  # it is in a state out of which no abort leads
        raise problem from None
    work.ended(name, "aborted")


async def in_time(work: Work, call: Awaitable[Any]) -> Any:
    """What it comes to; calls of transactions have no timeout of their own. Raises GaveUpError."""
    try:
        return await asyncio.wait_for(call, work.patience)
    except TimeoutError:
        raise GaveUpError("a call has not ended") from None
