"""confluent-kafka, which is librdkafka, of any release since 1.0, as workloads use it (`library.py`)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import confluent_kafka
import library
from confluent_kafka import KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewPartitions, NewTopic
from library import RETENTION, Ends, Place, Record
from work import GaveUpError, NotOfferedError, Reader, Work


def _made(kind: Any, work: Work, client_id: str, settings: dict[str, Any]) -> Any:
    """Make a client; all that is not set has the library's defaults. Raises NotOfferedError."""
    about = {"bootstrap.servers": work.bootstrap, "client.id": client_id, "log_level": 0}
    if (0,) < work.broker < (0, 10):  # brokers that do not say which versions they know
        about["api.version.request"] = False
        about["broker.version.fallback"] = ".".join(map(str, work.broker))
    try:
        return kind({**about, **settings})
    except KafkaException as problem:
        if problem.args[0].code() == KafkaError._INVALID_ARG:  # a release without such a setting
            raise NotOfferedError from None
        raise


def _again(work: Work, do: Callable[[], Any]) -> None:
    """Repeat a call until it succeeds, or fails with what its documents call no use to repeat."""
    until = work.until
    while True:
        try:
            do()
            return
        except KafkaException as problem:
            if not problem.args[0].retriable() or time.monotonic() > until:
                raise


class _Producer(library.Producer):
    """A Producer: librdkafka calls back for each record."""

    failures = (KafkaException,)

    def __init__(self, work: Work, settings: dict[str, Any]) -> None:
        super().__init__(work)
        self._producer = _made(confluent_kafka.Producer, work, "producer", settings)
        self._transactional = "transactional.id" in settings
        self._failed: list[Any] = []

    def __enter__(self) -> _Producer:
        if self._transactional:
            _again(self.work, lambda: self._producer.init_transactions(self.work.patience))
        return self

    def close(self) -> None:
        """Nothing is to be done: it ends with the process."""

    def send(self, record: str, topic: str) -> None:

        def told(error: Any, message: Any) -> None:
            if error is None:
                self.work.acknowledged(record, message.partition(), message.offset(), topic)
            elif error.code() != KafkaError._PURGE_QUEUE:
                self._failed.append(error)

        self._producer.produce(topic, value=record, key=record, on_delivery=told)
        self._producer.poll(0)

    def settle(self) -> None:
        """Wait until all records are acknowledged; what failed in a transaction is said at its end."""
        left = self._producer.flush(self.work.patience)
        if self._transactional:
            return
        if self._failed:
            raise KafkaException(self._failed[0])
        if left:
            raise GaveUpError(f"{left} records are neither acknowledged nor failed")

    def begin(self) -> None:
        self._producer.begin_transaction()

    def send_offsets(self, ends: Ends, consumer: Any) -> None:
        told = [TopicPartition(*at, end) for at, end in ends.items()]
        send, patience = self._producer.send_offsets_to_transaction, self.work.patience
        _again(self.work, lambda: send(told, consumer.group, patience))

    def commit(self) -> None:
        _again(self.work, lambda: self._producer.commit_transaction(self.work.patience))

    def abort(self) -> None:
        _again(self.work, lambda: self._producer.abort_transaction(self.work.patience))

    def abort_failed(self, problem: KafkaException) -> None:
        error = problem.args[0]
        # a record is refused with _STATE once its transaction has failed
        if not (error.txn_requires_abort() or error.code() == KafkaError._STATE):
            raise problem
        self.abort()


class _Consumer(library.Consumer):
    """A Consumer. begin: is called when it is assigned partitions."""

    def __init__(
        self,
        work: Work,
        reader: Reader,
        settings: dict[str, Any],
        begin: Callable[[], None] = lambda: None,
    ) -> None:
        about = {
            "group.id": work.group,  # it has to have one
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
        self._work = work
        self._consumer = _made(confluent_kafka.Consumer, work, reader.name, {**about, **settings})

        def assigned(_: Any, places: Any) -> None:
            reader.assigned(places)
            begin()

        # brokers of 0.8 keep a group's offsets, but have no members
        if "group.id" in settings and not (0,) < work.broker < (0, 9):
            self._consumer.subscribe([work.topic], on_assign=assigned)
            return
        places = [TopicPartition(work.topic, number) for number in range(work.partitions)]
        if "group.id" not in settings:
            for place in places:
                place.offset = 0
        self._consumer.assign(places)
        reader.assigned(places)

    @property
    def group(self) -> Any:
        return self._consumer.consumer_group_metadata()

    def close(self) -> None:
        self._consumer.close()

    def poll(self) -> list[Record]:
        return _records(self._consumer.consume(self._work.at_once, timeout=0.1))

    def store(self, ends: Ends) -> None:
        """Store offsets for the library to commit; those of partitions that it has no more are refused."""
        for at, end in ends.items():
            try:
                self._consumer.store_offsets(offsets=[TopicPartition(*at, end)])
            except KafkaException:
                continue

    def commit(self, ends: Ends) -> Ends:
        try:
            committed = self._consumer.commit(asynchronous=False)
        except KafkaException:  # it was not committed: it may come again
            return {}
        return {
            (place.topic, place.partition): place.offset
            for place in committed
            if place.error is None and place.offset >= 0
        }

    def rewind(self) -> list[Place]:
        places: list[Any] = []

        def rewind() -> None:
            consumer = self._consumer
            places[:] = consumer.committed(consumer.assignment(), self._work.patience)
            for place in places:
                place.offset = max(place.offset, 0)
                consumer.seek(place)

        _again(self._work, rewind)
        return [(place.topic, place.partition) for place in places]


def _records(messages: list[Any]) -> list[Record]:
    return [
        Record(one.topic(), one.partition(), one.offset(), one.value())
        for one in messages
        if not one.error()
    ]


class _ShareConsumer(library.ShareConsumer):
    """A ShareConsumer, which the library has since 2.16."""

    def __init__(self, work: Work, reader: Reader) -> None:
        kind = getattr(confluent_kafka, "ShareConsumer", None)
        if kind is None:
            raise NotOfferedError
        self._work = work
        self._consumer = _made(kind, work, reader.name, {"group.id": work.group})
        self._consumer.subscribe([work.topic])

    def close(self) -> None:
        self._consumer.close()

    def poll(self) -> list[Record]:
        return _records(self._consumer.poll(0.1))

    def commit(self) -> set[Place]:
        try:
            told = self._consumer.commit_sync(self._work.patience)
        except KafkaException:  # it was not taken: it may come again
            return set()
        return {(place.topic, place.partition) for place, why in told.items() if why is None}


class _Administrator(library.Administrator):
    """An AdminClient."""

    def __init__(self, work: Work) -> None:
        self._client = _made(AdminClient, work, "admin", {})
        self._patience = work.patience

    def close(self) -> None:
        """Nothing is to be done: it ends with the process."""

    def _done(self, answers: Any) -> None:
        for answer in answers.values():
            answer.result(self._patience)

    def partitions(self, topic: str) -> int:
        found = self._client.list_topics(timeout=self._patience).topics.get(topic)
        return 0 if found is None or found.error else len(found.partitions)

    def create(self, topic: str) -> None:
        self._done(self._client.create_topics([NewTopic(topic, 2, 1)]))

    def increase(self, topic: str) -> None:
        self._done(self._client.create_partitions([NewPartitions(topic, 3)]))

    def change(self, topic: str) -> None:
        about = ConfigResource(ConfigResource.Type.TOPIC, topic, {"retention.ms": RETENTION})
        self._done(self._client.alter_configs([about]))

    def retention(self, topic: str) -> str | None:
        about = ConfigResource(ConfigResource.Type.TOPIC, topic)
        try:
            found = self._client.describe_configs([about])[about].result(self._patience)
        except KafkaException as problem:  # this broker does not know of it yet
            if problem.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                return None
            raise
        value: str | None = found["retention.ms"].value
        return value

    def delete(self, topic: str) -> None:
        self._done(self._client.delete_topics([topic]))


LIBRARY = library.Library(_Producer, _Consumer, _Administrator, _ShareConsumer)
