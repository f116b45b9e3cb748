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
from aiokafka.errors import KafkaError, ProducerFenced, for_code
from library import RETENTION, Offsets, Partition, Record
from lines import watched
from work import GaveUpError, NotOfferedError, PlannedRecord, Reader, Sends, Work

try:
    from aiokafka.admin import AIOKafkaAdminClient
except ImportError:  # before 0.8
    AIOKafkaAdminClient = None
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
    """Wrap a coroutine function: it runs in the loop's thread, and the caller waits for its result."""

    @functools.wraps(method)
    def blocking(*arguments: Any, **named: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(method(*arguments, **named), _loop()).result()

    return blocking


@_blocking
async def _new_client(client: Any, work: Work, client_id: str, settings: dict[str, Any]) -> Any:
    """Create a client with the library's defaults for everything not set. Raises NotOfferedError."""
    named = library.underscored(settings)
    if "partition_assignment_strategy" in named or not named.keys() <= _known(client):
        raise NotOfferedError
    return client(bootstrap_servers=work.bootstrap, client_id=client_id, **named)


def _known(client: Any) -> set[str]:
    return set(inspect.signature(client).parameters)


async def _started(client: Any, stop: Callable[[], Awaitable[None]]) -> None:
    """Start a client; stop it if that fails, as its own `async with` does not."""
    try:
        await client.start()
    except BaseException:
        await stop()
        raise


class _Producer(library.ProducerWithFutures):
    """An AIOKafkaProducer."""

    failures = (KafkaError,)

    def __init__(self, work: Work, settings: dict[str, Any]) -> None:
        super().__init__(work)
        known = _known(AIOKafkaProducer)
        renamed = {"batch.size": "max.batch.size"}
        by_name = {renamed.get(name, name): value for name, value in work.settings.items()}
        offered = {name: by_name[name] for name in by_name if name.replace(".", "_") in known}
        settings = {**offered, **settings}
        self._producer = _new_client(AIOKafkaProducer, work, "producer", settings)

    @_blocking
    async def __enter__(self) -> _Producer:
        await _started(self._producer, self._producer.stop)
        return self

    @_blocking
    async def close(self) -> None:
        await self._producer.stop()

    @_blocking
    async def send_all(self, sends: Sends, transaction: str | None = None) -> None:
        for records in sends:  # in the loop: a call for each would take longer than a burst
            for record in records:
                self.work.sent(record.id, record.topic, transaction, self.name)
                self._sent.append((record, await self._send(record)))
            await asyncio.sleep(self.work.pause)

    async def _send(self, record: PlannedRecord) -> Any:
        optional = library.named_timestamp(record.optional)
        return await self._producer.send(record.topic, record.value, record.key, **optional)

    future = _blocking(_send)

    def written(self, record: PlannedRecord, future: Any, timeout: float) -> tuple[int, int]:
        if not future.done():
            self._wait(future, timeout)
        if not future.done():
            raise GaveUpError(f"{record.id} is neither acknowledged nor failed")
        metadata = future.result()
        return metadata.partition, metadata.offset

    @_blocking
    async def _wait(self, future: Any, seconds: float) -> None:
        await asyncio.wait([future], timeout=seconds)

    @_blocking
    async def flush(self) -> None:
        await self._producer.flush()

    def close_with_records(self) -> None:
        self.close()

    def begin(self) -> None:
        super().begin()
        self._in_time(lambda: self._producer.begin_transaction())

    @_blocking
    async def _in_time(self, call: Callable[[], Awaitable[Any]]) -> Any:
        """Await a call of a transaction, which has no timeout of its own. Raises GaveUpError."""
        try:
            return await asyncio.wait_for(call(), self.work.patience)
        except TimeoutError:
            raise GaveUpError("a call has not ended") from None

    def send_offsets(self, offsets: Offsets, consumer: Any) -> None:
        committed = {TopicPartition(*partition): end for partition, end in offsets.items()}
        send = self._producer.send_offsets_to_transaction
        self._in_time(lambda: send(committed, consumer.group))

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

    def __init__(
        self, work: Work, reader: Reader, settings: dict[str, Any], pattern: str | None
    ) -> None:
        known = [name.replace("_", ".") for name in _known(AIOKafkaConsumer)]
        defaults = {"auto.offset.reset": "earliest", "enable.auto.commit": False}
        settings = library.offered(settings, known)
        self._consumer = _new_client(AIOKafkaConsumer, work, reader.name, {**defaults, **settings})
        self._pattern = pattern
        self._work, self._reader = work, reader
        self.group = settings.get("group.id")

    @_blocking
    async def __enter__(self) -> _Consumer:
        work, reader = self._work, self._reader
        if self.group:
            topics = {"pattern": self._pattern} if self._pattern else {"topics": work.topics}
            self._consumer.subscribe(
                **topics, listener=library.listener(ConsumerRebalanceListener, reader)
            )
        else:
            partitions = [TopicPartition(*partition) for partition in work.topic_partitions]
            self._consumer.assign(partitions)
            reader.assigned(partitions)
        await _started(self._consumer, self._consumer.stop)
        return self

    @_blocking
    async def close(self) -> None:
        await self._consumer.stop()

    @_blocking
    async def poll(self) -> list[Record]:
        batches = await self._consumer.getmany(timeout_ms=100, max_records=self._work.at_once)
        return [
            Record(
                record.topic,
                record.partition,
                record.offset,
                library.record_id(record.key, record.value),
            )
            for records in batches.values()
            for record in records
        ]

    def commit(self, offsets: Offsets) -> Offsets:
        return self.commit_some(offsets)

    @_blocking
    async def pause(self) -> None:
        self._consumer.pause(*self._consumer.assignment())

    @_blocking
    async def resume(self) -> None:
        self._consumer.resume(*self._consumer.assignment())

    @_blocking
    async def commit_some(self, offsets: Offsets) -> Offsets:
        try:
            await self._consumer.commit(
                {TopicPartition(*partition): end for partition, end in offsets.items()}
            )
        except KafkaError:  # not committed: the records may be delivered again
            return {}
        return offsets

    @_blocking
    async def rewind(self) -> list[Partition]:
        consumer = self._consumer
        offsets = {
            partition: await consumer.committed(partition) or 0
            for partition in consumer.assignment()
        }
        partitions = [partition for partition in consumer.assignment() if partition in offsets]
        for partition in partitions:
            consumer.seek(partition, offsets[partition])
        return [(partition.topic, partition.partition) for partition in partitions]


class _Administrator(library.Administrator):
    """An AIOKafkaAdminClient."""

    def __init__(self, work: Work) -> None:
        if AIOKafkaAdminClient is None:
            raise NotOfferedError
        self._client = _new_client(AIOKafkaAdminClient, work, "admin", {})

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
        topics = {
            description["topic"]: description
            for description in await self._client.describe_topics()
        }
        return len(topics[topic]["partitions"]) if topic in topics else 0

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
        resource = ConfigResource(ConfigResourceType.TOPIC, topic)
        (response,) = await self._client.describe_configs([resource])
        return {entry[0]: entry[1] for entry in response.resources[0][4]}.get("retention.ms")

    @_blocking
    async def delete(self, topic: str) -> None:
        _check((await self._client.delete_topics([topic])).topic_error_codes)


def _check(answers: list[Any]) -> None:
    """Raise the errors of answers, which begin with a name and a code."""
    for name, code, *_ in answers:
        if code:
            raise for_code(code)(name)


LIBRARY = library.Library(_Producer, _Consumer, _Administrator)
