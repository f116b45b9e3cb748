"""aiokafka, of any release since 0.7, as workloads use it (`library.py`).

Its clients live in an event loop in a thread of its own, and a workload waits for each of their calls.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
import queue
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import library
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError, ProducerFenced, for_code
from library import RETENTION, Ends, Place, Record
from lines import watched
from work import GaveUpError, NotOfferedError, Reader, Work

try:
    from aiokafka.admin import NewPartitions, NewTopic
    from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
except ImportError:  # before 0.9 they are kafka-python's
    from kafka.admin import ConfigResource, ConfigResourceType, NewPartitions, NewTopic

logging.getLogger("aiokafka").setLevel(logging.CRITICAL)


@functools.cache
def _loop() -> asyncio.AbstractEventLoop:
    """Return the loop of all clients, which runs."""
    begun: queue.SimpleQueue[asyncio.AbstractEventLoop] = queue.SimpleQueue()

    async def serve() -> int:
        begun.put(asyncio.get_running_loop())
        return await asyncio.get_running_loop().create_future()

    threading.Thread(target=lambda: asyncio.run(watched(serve())), daemon=True).start()
    return begun.get()


def _blocking(method: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Any]:
    """Make a coroutine function one that runs in the loop, and returns what comes of it."""

    @functools.wraps(method)
    def blocking(*arguments: Any, **named: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(method(*arguments, **named), _loop()).result()

    return blocking


@_blocking
async def _made(kind: Any, work: Work, client_id: str, settings: dict[str, Any]) -> Any:
    """Make a client; all that is not set has the library's defaults. Raises NotOfferedError."""
    own = library.underscored(settings)
    if "partition_assignment_strategy" in own or not own.keys() <= _known(kind):
        raise NotOfferedError
    return kind(bootstrap_servers=work.bootstrap, client_id=client_id, **own)


def _known(kind: Any) -> set[str]:
    return set(inspect.signature(kind).parameters)


async def _started(client: Any, stop: Callable[[], Awaitable[None]]) -> None:
    """Start a client; stop it if that fails, as its own `async with` does not."""
    try:
        await client.start()
    except BaseException:
        await stop()
        raise


class _Producer(library.Producer):
    """An AIOKafkaProducer."""

    failures = (KafkaError,)

    def __init__(self, work: Work, settings: dict[str, Any]) -> None:
        super().__init__(work)
        self._sent: list[tuple[str, str, Any]] = []
        self._producer = _made(AIOKafkaProducer, work, "producer", settings)

    @_blocking
    async def __enter__(self) -> _Producer:
        await _started(self._producer, self._producer.stop)
        return self

    @_blocking
    async def close(self) -> None:
        await self._producer.stop()

    @_blocking
    async def send_all(
        self,
        records: list[str],
        topic: str,
        transaction: str | None = None,
        pause: float | None = None,
    ) -> None:
        for record in records:  # in the loop: a call for each would take longer than a burst
            self.work.sent(record, transaction, topic)
            future = await self._producer.send(topic, record.encode(), key=record.encode())
            self._sent.append((record, topic, future))
            if pause is not None:
                await asyncio.sleep(pause)

    @_blocking
    async def settle(self) -> None:
        sent, self._sent = self._sent, []
        for record, topic, future in sent:
            done, _ = await asyncio.wait([future], timeout=self.work.patience)
            if not done:
                raise GaveUpError(f"{record} is neither acknowledged nor failed")
            told = future.result()
            self.work.acknowledged(record, told.partition, told.offset, topic)

    def begin(self) -> None:
        self._sent = []
        self._in_time(lambda: self._producer.begin_transaction())

    @_blocking
    async def _in_time(self, call: Callable[[], Awaitable[Any]]) -> Any:
        """Return what a call comes to: those of transactions have no timeout. Raises GaveUpError."""
        try:
            return await asyncio.wait_for(call(), self.work.patience)
        except TimeoutError:
            raise GaveUpError("a call has not ended") from None

    def send_offsets(self, ends: Ends, consumer: Any) -> None:
        told = {TopicPartition(*place): end for place, end in ends.items()}
        send = self._producer.send_offsets_to_transaction
        self._in_time(lambda: send(told, consumer.group))

    def commit(self) -> None:
        self._in_time(lambda: self._producer.commit_transaction())

    def abort(self) -> None:
        self._in_time(lambda: self._producer.abort_transaction())

    def abort_failed(self, problem: KafkaError) -> None:
        if isinstance(problem, ProducerFenced):
            raise problem
        try:
            self.abort()
        except AssertionError:  # it is in a state out of which no abort leads
            raise problem from None


class _Consumer(library.Consumer):
    """An AIOKafkaConsumer."""

    def __init__(self, work: Work, reader: Reader, settings: dict[str, Any]) -> None:
        about = {"auto.offset.reset": "earliest", "enable.auto.commit": False}
        self._consumer = _made(AIOKafkaConsumer, work, reader.name, {**about, **settings})
        self._work, self._reader = work, reader
        self.group = settings.get("group.id")

    @_blocking
    async def __enter__(self) -> _Consumer:
        work, reader = self._work, self._reader
        if self.group:
            self._consumer.subscribe(
                [work.topic], listener=library.listener(ConsumerRebalanceListener, reader)
            )
        else:
            places = [TopicPartition(work.topic, number) for number in range(work.partitions)]
            self._consumer.assign(places)
            reader.assigned(places)
        await _started(self._consumer, self._consumer.stop)
        return self

    @_blocking
    async def close(self) -> None:
        await self._consumer.stop()

    @_blocking
    async def poll(self) -> list[Record]:
        found = await self._consumer.getmany(timeout_ms=100, max_records=self._work.at_once)
        return [
            Record(one.topic, one.partition, one.offset, one.value)
            for records in found.values()
            for one in records
        ]

    @_blocking
    async def commit(self, ends: Ends) -> Ends:
        try:
            await self._consumer.commit({TopicPartition(*at): end for at, end in ends.items()})
        except KafkaError:  # it was not committed: it may come again
            return {}
        return ends

    @_blocking
    async def rewind(self) -> list[Place]:
        consumer = self._consumer
        found = {place: await consumer.committed(place) or 0 for place in consumer.assignment()}
        places = [place for place in consumer.assignment() if place in found]
        for place in places:
            consumer.seek(place, found[place])
        return [(place.topic, place.partition) for place in places]


class _Administrator(library.Administrator):
    """An AIOKafkaAdminClient."""

    def __init__(self, work: Work) -> None:
        self._client = _made(AIOKafkaAdminClient, work, "admin", {})

    @_blocking
    async def __enter__(self) -> _Administrator:
        await _started(self._client, self._client.close)
        return self

    @_blocking
    async def close(self) -> None:
        await self._client.close()

    @_blocking
    async def partitions(self, topic: str) -> int:
        # not of this topic alone: brokers would make it
        found = {one["topic"]: one for one in await self._client.describe_topics()}
        return len(found[topic]["partitions"]) if topic in found else 0

    @_blocking
    async def create(self, topic: str) -> None:
        _check((await self._client.create_topics([NewTopic(topic, 2, 1)])).topic_errors)

    @_blocking
    async def increase(self, topic: str) -> None:
        await self._client.create_partitions({topic: NewPartitions(3)})

    @_blocking
    async def change(self, topic: str) -> None:
        changed = ConfigResource(ConfigResourceType.TOPIC, topic, {"retention.ms": RETENTION})
        for each in await self._client.alter_configs([changed]):
            _check([(name, code) for code, _, _, name in each.resources])

    @_blocking
    async def retention(self, topic: str) -> str | None:
        about = ConfigResource(ConfigResourceType.TOPIC, topic)
        (found,) = await self._client.describe_configs([about])
        return {entry[0]: entry[1] for entry in found.resources[0][4]}.get("retention.ms")

    @_blocking
    async def delete(self, topic: str) -> None:
        _check((await self._client.delete_topics([topic])).topic_error_codes)


def _check(answers: list[Any]) -> None:
    """Raise the errors of answers, which begin with a name and a code."""
    for name, code, *_ in answers:
        if code:
            raise for_code(code)(name)


LIBRARY = library.Library(_Producer, _Consumer, _Administrator)
