"""The Java client, of any release, through JPype (`java_machine.py`), as workloads use it (`library.py`)."""

from __future__ import annotations

import time
from typing import Any

import library
from java_machine import java, jpype, kafka, offered
from library import COOPERATIVE, RETENTION, Offsets, Partition, Record
from work import GaveUpError, NotOfferedError, PlannedRecord, Reader, Work

STRING = "org.apache.kafka.common.serialization.String"
READS = dict.fromkeys(("key.deserializer", "value.deserializer"), f"{STRING}Deserializer")
_WRITES = dict.fromkeys(("key.serializer", "value.serializer"), f"{STRING}Serializer")
_COOPERATIVE = "clients.consumer.CooperativeStickyAssignor"
_MILLISECONDS = java("util.concurrent.TimeUnit").MILLISECONDS
_PLACE = kafka("common.TopicPartition")


def _errors(*names: str) -> tuple[Any, ...]:
    """Return the exceptions among these that this release has."""
    return tuple(kafka(name) for name in names if offered(name))


_FATAL = _errors(
    "common.errors.ProducerFencedException",
    "common.errors.OutOfOrderSequenceException",
    "common.errors.AuthorizationException",
)
"""After which a producer is to be closed, as the documents of KafkaProducer have it."""

_UNCOMMITTED = _errors(
    "common.errors.RetriableException",
    "common.errors.RebalanceInProgressException",
    "clients.consumer.CommitFailedException",
)


def poll(consumer: Any) -> Any:
    """Return what comes within a tenth of a second."""
    try:
        return consumer.poll(java("time.Duration").ofMillis(100))
    except TypeError:  # before 2.0
        return consumer.poll(100)


def close(client: Any, milliseconds: int = 1000) -> None:
    """Close a client, which may take so long."""
    try:
        client.close(java("time.Duration").ofMillis(milliseconds))
    except TypeError:  # before 2.0
        client.close()


def properties(work: Work, client_id: str, settings: dict[str, Any]) -> Any:
    """Return settings as the library takes them. Raises NotOfferedError."""
    if "group.protocol" in settings:
        options = kafka("clients.consumer.ConsumerConfig")
        if not hasattr(options, "GROUP_PROTOCOL_CONFIG"):
            raise NotOfferedError
    table = java("util.Properties")()
    defaults = {"bootstrap.servers": work.bootstrap, "client.id": client_id}
    for name, value in {**defaults, **settings}.items():
        table.setProperty(name, str(value).lower() if isinstance(value, bool) else str(value))
    return table


class _Producer(library.ProducerWithFutures):
    """A KafkaProducer."""

    failures = (java("util.concurrent.ExecutionException"), kafka("common.KafkaException"))

    def __init__(self, work: Work, settings: dict[str, Any]) -> None:
        super().__init__(work)
        defaults = properties(work, "producer", {**_WRITES, **work.settings, **settings})
        self._producer = kafka("clients.producer.KafkaProducer")(defaults)
        self._transactional = "transactional.id" in settings

    def __enter__(self) -> _Producer:
        try:
            if self._transactional:
                self._producer.initTransactions()
        except BaseException:
            self.close()
            raise
        return self

    def close(self) -> None:
        close(self._producer)

    def flush(self) -> None:
        self._producer.flush()

    def close_with_records(self) -> None:
        self._producer.close()

    def future(self, record: PlannedRecord) -> Any:
        return self._producer.send(_producer_record(record))

    def written(self, record: PlannedRecord, future: Any, timeout: float) -> tuple[int, int]:
        try:
            metadata = future.get(int(timeout * 1000), _MILLISECONDS)
        except java("util.concurrent.TimeoutException"):
            raise GaveUpError(f"{record.id} is neither acknowledged nor failed") from None
        return int(metadata.partition()), int(metadata.offset())

    def begin(self) -> None:
        super().begin()
        self._producer.beginTransaction()

    def send_offsets(self, offsets: Offsets, consumer: Any) -> None:
        self._producer.sendOffsetsToTransaction(_offsets_and_metadata(offsets), consumer.group)

    def commit(self) -> None:
        """Commit the transaction; a call that takes too long is repeated, as its documents say."""
        until = self.work.until
        while True:
            try:
                self._producer.commitTransaction()
                return
            except kafka("common.errors.TimeoutException"):
                if time.monotonic() > until:
                    raise

    def abort(self) -> None:
        self._producer.abortTransaction()

    def abort_failed(self, problem: Any) -> None:
        if isinstance(problem, _FATAL):
            raise problem
        self.abort()


def _producer_record(record: PlannedRecord) -> Any:
    """Return a record as the client takes it; releases before 0.11 have no headers."""
    key = None if record.key is None else record.key.decode()
    value = None if record.value is None else record.value.decode()
    create = kafka("clients.producer.ProducerRecord")
    if not record.optional:
        return create(record.topic, key, value)
    header_class = "common.header.internals.RecordHeader"
    if not offered(header_class):
        raise NotOfferedError
    header = kafka(header_class)
    headers = java("util.ArrayList")()
    for name, content in record.headers or ():
        headers.add(header(name, jpype.JArray(jpype.JByte)(content)))
    number, at = record.partition, record.timestamp
    return create(
        record.topic,
        None if number is None else java("lang.Integer")(number),
        None if at is None else java("lang.Long")(at),
        key,
        value,
        headers,
    )


def _offsets_and_metadata(offsets: Offsets) -> Any:
    committed = java("util.HashMap")()
    for partition, end in offsets.items():
        committed.put(_PLACE(*partition), kafka("clients.consumer.OffsetAndMetadata")(end))
    return committed


class _Consumer(library.Consumer):
    """A KafkaConsumer."""

    def __init__(
        self, work: Work, reader: Reader, settings: dict[str, Any], pattern: str | None
    ) -> None:
        defaults = {"auto.offset.reset": "earliest", "enable.auto.commit": False, **settings}
        if defaults.get("partition.assignment.strategy") == COOPERATIVE:
            if not offered(_COOPERATIVE):
                raise NotOfferedError
            defaults["partition.assignment.strategy"] = f"org.apache.kafka.{_COOPERATIVE}"
        config = {**READS, "max.poll.records": work.at_once, **defaults}
        consumer_class = kafka("clients.consumer.KafkaConsumer")
        self._consumer = consumer_class(properties(work, reader.name, config))
        self._work = work
        if "group.id" in settings:
            topics = java("util.Arrays").asList(work.topics)
            if pattern:
                topics = java("util.regex.Pattern").compile(pattern)
            self._consumer.subscribe(topics, _listener(reader))
            return
        partitions = [_PLACE(*partition) for partition in work.topic_partitions]
        self._consumer.assign(java("util.Arrays").asList(partitions))
        for partition in work.topic_partitions:
            reader.partition_assigned(*partition)

    @property
    def group(self) -> Any:
        """Return the group for a transaction; releases before 2.5 use its name only."""
        known = hasattr(self._consumer, "groupMetadata")
        return self._consumer.groupMetadata() if known else self._work.group

    def close(self) -> None:
        close(self._consumer)

    def poll(self) -> list[Record]:
        return _records(poll(self._consumer))

    def commit(self, offsets: Offsets) -> Offsets:
        return self._committed(offsets)

    def commit_some(self, offsets: Offsets) -> Offsets:
        return self._committed(offsets, _offsets_and_metadata(offsets))

    def _committed(self, offsets: Offsets, *to_commit: Any) -> Offsets:
        try:
            self._consumer.commitSync(*to_commit)
        except _UNCOMMITTED:  # not committed: the records may be delivered again
            return {}
        return offsets

    def pause(self) -> None:
        self._consumer.pause(self._consumer.assignment())

    def resume(self) -> None:
        self._consumer.resume(self._consumer.assignment())

    def rewind(self) -> list[Partition]:
        consumer, partitions = self._consumer, []
        for partition, at in consumer.committed(consumer.assignment()).items():
            if at is None:
                consumer.seekToBeginning(java("util.Arrays").asList(partition))
            else:
                consumer.seek(partition, at)
            partitions.append(_partition(partition))
        return partitions


def _partition(partition: Any) -> Partition:
    return str(partition.topic()), int(partition.partition())


def _records(polled: Any) -> list[Record]:
    return [
        Record(
            *_partition(record),
            int(record.offset()),
            library.record_id(_bytes(record.key()), _bytes(record.value())),
        )
        for record in polled
    ]


def _bytes(text: Any) -> bytes | None:
    return None if text is None else str(text).encode()


def _listener(reader: Reader) -> Any:
    @jpype.JImplements("org.apache.kafka.clients.consumer.ConsumerRebalanceListener")
    class Listener:
        @jpype.JOverride  # type: ignore[untyped-decorator]
        def onPartitionsRevoked(self, partitions: Any) -> None:  # noqa: N802 (Java's name)
            pass

        @jpype.JOverride  # type: ignore[untyped-decorator]
        def onPartitionsLost(self, partitions: Any) -> None:  # noqa: N802 (Java's name)
            pass

        @jpype.JOverride  # type: ignore[untyped-decorator]
        def onPartitionsAssigned(self, partitions: Any) -> None:  # noqa: N802 (Java's name)
            for partition in partitions:
                reader.partition_assigned(*_partition(partition))

    return Listener()


class _ShareConsumer(library.ShareConsumer):
    """A KafkaShareConsumer."""

    def __init__(self, work: Work, reader: Reader) -> None:
        class_name = "clients.consumer.KafkaShareConsumer"
        if not offered(class_name):
            raise NotOfferedError
        config = properties(work, reader.name, {**READS, "group.id": work.group})
        self._consumer = kafka(class_name)(config)
        self._consumer.subscribe(java("util.Arrays").asList(work.topics))

    def close(self) -> None:
        close(self._consumer)

    def poll(self) -> list[Record]:
        return _records(poll(self._consumer))

    def commit(self) -> set[Partition]:
        return {
            (str(each.getKey().topic()), int(each.getKey().partition()))
            for each in self._consumer.commitSync().entrySet()
            if not each.getValue().isPresent()
        }


class _Administrator(library.Administrator):
    """An AdminClient."""

    def __init__(self, work: Work) -> None:
        self._client = kafka("clients.admin.AdminClient").create(properties(work, "admin", {}))
        self._patience = int(work.patience * 1000)
        self._only = java("util.Collections")

    def close(self) -> None:
        close(self._client)

    def _done(self, future: Any) -> Any:
        try:
            return future.get(self._patience, _MILLISECONDS)
        except java("util.concurrent.TimeoutException"):
            raise GaveUpError("an administrator's call has not ended") from None

    def _known(self, future: Any) -> Any:
        """Return what comes of a call; None if the broker does not know of the topic yet."""
        try:
            return self._done(future)
        except java("util.concurrent.ExecutionException") as problem:
            if "UnknownTopicOrPartition" in str(problem.getCause()):
                return None
            raise

    def partitions(self, topic: str) -> int:
        if not self._done(self._client.listTopics().names()).contains(topic):
            return 0
        futures = self._client.describeTopics(self._only.singletonList(topic))
        named = futures.allTopicNames() if hasattr(futures, "allTopicNames") else futures.all()
        description = self._known(named)
        return len(description.get(topic).partitions()) if description else 0

    def create(self, topic: str) -> None:
        new_topic = kafka("clients.admin.NewTopic")(topic, jpype.JInt(2), jpype.JShort(1))
        self._done(self._client.createTopics(self._only.singletonList(new_topic)).all())

    def increase(self, topic: str) -> None:
        more = self._only.singletonMap(topic, kafka("clients.admin.NewPartitions").increaseTo(3))
        self._done(self._client.createPartitions(more).all())

    def change(self, topic: str) -> None:
        entry = kafka("clients.admin.ConfigEntry")("retention.ms", RETENTION)
        setting = kafka("clients.admin.AlterConfigOp$OpType").SET
        change = self._only.singletonList(kafka("clients.admin.AlterConfigOp")(entry, setting))
        changes = self._only.singletonMap(_resource(topic), change)
        self._done(self._client.incrementalAlterConfigs(changes).all())

    def retention(self, topic: str) -> str | None:
        resource = _resource(topic)
        future = self._client.describeConfigs(self._only.singletonList(resource))
        configs = self._known(future.all())
        return str(configs.get(resource).get("retention.ms").value()) if configs else None

    def delete(self, topic: str) -> None:
        self._done(self._client.deleteTopics(self._only.singletonList(topic)).all())


def _resource(topic: str) -> Any:
    kind = kafka("common.config.ConfigResource$Type").TOPIC
    return kafka("common.config.ConfigResource")(kind, topic)


LIBRARY = library.Library(_Producer, _Consumer, _Administrator, _ShareConsumer)
