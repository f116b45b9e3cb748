"""confluent-kafka, which is librdkafka, of any release since 1.0, as workloads use it (`library.py`)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import confluent_kafka
import library
from confluent_kafka import KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewPartitions, NewTopic
from library import RETENTION, Offsets, Partition, Record
from work import GaveUpError, NotOfferedError, PlannedRecord, Reader, Work

_OWN_NAMES = {
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "metadata.max.age.ms": "topic.metadata.refresh.interval.ms",
}
"""Settings of librdkafka by Kafka's names. Its own metadata.max.age.ms is something else."""

_BATCH_SIZE = 0x01050000
"""The first libversion with batch.size."""


def _new_client(client: Any, work: Work, client_id: str, settings: dict[str, Any]) -> Any:
    """Create a client with the library's defaults for everything not set. Raises NotOfferedError."""
    defaults = {"bootstrap.servers": work.bootstrap, "client.id": client_id, "log_level": 0}
    if (0,) < work.broker < (0, 10):  # brokers without ApiVersions
        defaults["api.version.request"] = False
        defaults["broker.version.fallback"] = ".".join(map(str, work.broker))
    try:
        return client({**defaults, **settings})
    except KafkaException as problem:
        if problem.args[0].code() == KafkaError._INVALID_ARG:  # a release without such a setting
            raise NotOfferedError from None
        raise


def _retry(work: Work, do: Callable[[], Any]) -> None:
    """Repeat a call until it succeeds, or fails with an error that is not retriable."""
    until = work.until
    while True:
        try:
            do()
            return
        except KafkaException as problem:
            if not problem.args[0].retriable() or time.monotonic() > until:
                raise


class _Producer(library.Producer):
    """A Producer with delivery callbacks."""

    failures = (KafkaException,)

    def __init__(self, work: Work, settings: dict[str, Any]) -> None:
        super().__init__(work)
        offered = dict(work.settings)
        if confluent_kafka.libversion()[1] < _BATCH_SIZE:
            offered.pop("batch.size", None)
        settings = {**offered, **settings}
        self._producer = _new_client(confluent_kafka.Producer, work, "producer", settings)
        self._transactional = "transactional.id" in settings
        self._failed: list[Any] = []

    def __enter__(self) -> _Producer:
        if self._transactional:
            _retry(self.work, lambda: self._producer.init_transactions(self.work.patience))
        return self

    def close(self) -> None:
        """Do nothing: the producer ends with the process."""

    def send(self, record: PlannedRecord) -> None:

        def told(error: Any, message: Any) -> None:
            if error is None:
                at = message.partition(), message.offset()
                self.work.acknowledged(record.id, record.topic, *at)
                return
            self.work.record_error(record.id, record.topic, error)
            if error.code() != KafkaError._PURGE_QUEUE:
                self._failed.append(error)

        self._producer.produce(
            record.topic, record.value, record.key, on_delivery=told, **record.optional
        )
        self._producer.poll(0)

    def settle(self) -> None:
        """Wait until all records are acknowledged; errors in a transaction are raised by its commit."""
        remaining = self._producer.flush(self.work.patience)
        if self._transactional:
            return
        self.report_outcomes()
        if remaining:
            raise GaveUpError(f"{remaining} records are neither acknowledged nor failed")

    def flush(self) -> None:
        self._producer.flush()

    def close_with_records(self) -> None:
        """Flush: the library's documentation has no other way to complete records."""
        self.flush()

    def report_outcomes(self) -> None:
        """Raise the first error of a record: callbacks have reported all."""
        if self._failed:
            raise KafkaException(self._failed[0])

    def begin(self) -> None:
        self._producer.begin_transaction()

    def send_offsets(self, offsets: Offsets, consumer: Any) -> None:
        committed = [TopicPartition(*partition, end) for partition, end in offsets.items()]
        send, patience = self._producer.send_offsets_to_transaction, self.work.patience
        _retry(self.work, lambda: send(committed, consumer.group, patience))

    def commit(self) -> None:
        _retry(self.work, lambda: self._producer.commit_transaction(self.work.patience))

    def abort(self) -> None:
        _retry(self.work, lambda: self._producer.abort_transaction(self.work.patience))

    def abort_failed(self, problem: KafkaException) -> None:
        error = problem.args[0]
        # a record is refused with _STATE once its transaction has failed
        if not (error.txn_requires_abort() or error.code() == KafkaError._STATE):
            raise problem
        self.abort()


class _Consumer(library.Consumer):
    """A Consumer. begin: called on each assignment."""

    def __init__(
        self,
        work: Work,
        reader: Reader,
        settings: dict[str, Any],
        pattern: str | None,
        begin: Callable[[], None] = lambda: None,
    ) -> None:
        defaults = {
            "group.id": work.group,  # it has to have one
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
        settings = library.offered(settings, library.OPTIONAL[:3] + library.OPTIONAL[4:])
        settings = {_OWN_NAMES.get(name, name): value for name, value in settings.items()}
        self._work, self._paused = work, list[Any]()
        self._consumer = _new_client(
            confluent_kafka.Consumer, work, reader.name, {**defaults, **settings}
        )

        def assigned(_: Any, partitions: Any) -> None:
            reader.assigned(partitions)
            begin()

        # brokers of 0.8 keep a group's offsets, but have no members
        if "group.id" in settings and not (0,) < work.broker < (0, 9):
            self._consumer.subscribe([pattern] if pattern else work.topics, on_assign=assigned)
            return
        partitions = [TopicPartition(*partition) for partition in work.topic_partitions]
        if "group.id" not in settings:
            for partition in partitions:
                partition.offset = 0
        self._consumer.assign(partitions)
        reader.assigned(partitions)

    @property
    def group(self) -> Any:
        return self._consumer.consumer_group_metadata()

    def close(self) -> None:
        self._consumer.close()

    def poll(self) -> list[Record]:
        return _records(self._work, self._consumer.consume(self._work.at_once, timeout=0.1))

    def store(self, offsets: Offsets) -> None:
        """Store offsets for the library to commit; offsets of lost partitions are refused."""
        for at, end in offsets.items():
            try:
                self._consumer.store_offsets(offsets=[TopicPartition(*at, end)])
            except KafkaException:
                continue

    def commit(self, offsets: Offsets) -> Offsets:
        return self._committed()

    def commit_some(self, offsets: Offsets) -> Offsets:
        to_commit = [TopicPartition(*partition, end) for partition, end in offsets.items()]
        return self._committed(offsets=to_commit)

    def _committed(self, **to_commit: Any) -> Offsets:
        try:
            committed = self._consumer.commit(asynchronous=False, **to_commit)
        except KafkaException:  # not committed: the records may be delivered again
            return {}
        return {
            (partition.topic, partition.partition): partition.offset
            for partition in committed
            if partition.error is None and partition.offset >= 0
        }

    def pause(self) -> None:
        self._paused = self._consumer.assignment()
        self._consumer.pause(self._paused)

    def resume(self) -> None:
        """Resume what was paused: librdkafka keeps a pause when a partition is lost and assigned again."""
        self._consumer.resume(self._paused)

    def rewind(self) -> list[Partition]:
        places: list[Any] = []

        def rewind() -> None:
            consumer = self._consumer
            places[:] = consumer.committed(consumer.assignment(), self._work.patience)
            for partition in places:
                partition.offset = max(partition.offset, 0)
                consumer.seek(partition)

        _retry(self._work, rewind)
        return [(partition.topic, partition.partition) for partition in places]


def _records(work: Work, messages: list[Any]) -> list[Record]:
    """Return the records of messages. Raises KafkaException if one is a fatal error."""
    for error in filter(None, (message.error() for message in messages)):
        work.poll_error = KafkaException(error)
        if error.code() == KafkaError._FATAL:
            raise work.poll_error
    return [
        Record(
            message.topic(),
            message.partition(),
            message.offset(),
            library.record_id(message.key(), message.value()),
        )
        for message in messages
        if not message.error()
    ]


class _ShareConsumer(library.ShareConsumer):
    """A ShareConsumer, which the library has since 2.16."""

    def __init__(self, work: Work, reader: Reader) -> None:
        share_consumer = getattr(confluent_kafka, "ShareConsumer", None)
        if share_consumer is None:
            raise NotOfferedError
        self._work = work
        self._consumer = _new_client(share_consumer, work, reader.name, {"group.id": work.group})
        self._consumer.subscribe(work.topics)

    def close(self) -> None:
        self._consumer.close()

    def poll(self) -> list[Record]:
        return _records(self._work, self._consumer.poll(0.1))

    def commit(self) -> set[Partition]:
        try:
            results = self._consumer.commit_sync(self._work.patience)
        except KafkaException:  # not acknowledged: the records may be delivered again
            return set()
        return {
            (partition.topic, partition.partition)
            for partition, error in results.items()
            if error is None
        }


class _Administrator(library.Administrator):
    """An AdminClient."""

    def __init__(self, work: Work) -> None:
        self._client = _new_client(AdminClient, work, "admin", {})
        self._patience = work.patience

    def close(self) -> None:
        """Do nothing: the client ends with the process."""

    def _done(self, answers: Any) -> None:
        for answer in answers.values():
            answer.result(self._patience)

    def partitions(self, topic: str) -> int:
        topics = self._client.list_topics(timeout=self._patience).topics.get(topic)
        return 0 if topics is None or topics.error else len(topics.partitions)

    def create(self, topic: str) -> None:
        self._done(self._client.create_topics([NewTopic(topic, 2, 1)]))

    def increase(self, topic: str) -> None:
        self._done(self._client.create_partitions([NewPartitions(topic, 3)]))

    def change(self, topic: str) -> None:
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic, {"retention.ms": RETENTION})
        self._done(self._client.alter_configs([resource]))

    def retention(self, topic: str) -> str | None:
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
        try:
            futures = self._client.describe_configs([resource])[resource].result(self._patience)
        except KafkaException as problem:  # this broker does not know of it yet
            if problem.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                return None
            raise
        value: str | None = futures["retention.ms"].value
        return value

    def delete(self, topic: str) -> None:
        self._done(self._client.delete_topics([topic]))


LIBRARY = library.Library(_Producer, _Consumer, _Administrator, _ShareConsumer)
