"""The Java client, of any release, through JPype (`java_machine.py`), as workloads use it (`library.py`)."""

from __future__ import annotations

import time
from typing import Any

import library
from java_machine import java, jpype, kafka, offered
from library import COOPERATIVE, RETENTION, Ends, Place, Record
from work import GaveUpError, NotOfferedError, Reader, Work

STRING = "org.apache.kafka.common.serialization.String"
READS = dict.fromkeys(("key.deserializer", "value.deserializer"), f"{STRING}Deserializer")
_WRITES = dict.fromkeys(("key.serializer", "value.serializer"), f"{STRING}Serializer")
_COOPERATIVE = "clients.consumer.CooperativeStickyAssignor"
_MILLISECONDS = java("util.concurrent.TimeUnit").MILLISECONDS
_PLACE = kafka("common.TopicPartition")


def _errors(*names: str) -> tuple[Any, ...]:
    """Return those of these exceptions that this release has."""
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
    made = java("util.Properties")()
    about = {"bootstrap.servers": work.bootstrap, "client.id": client_id}
    for name, value in {**about, **settings}.items():
        made.setProperty(name, str(value).lower() if isinstance(value, bool) else str(value))
    return made


class _Producer(library.ProducerWithFutures):
    """A KafkaProducer."""

    failures = (java("util.concurrent.ExecutionException"), kafka("common.KafkaException"))

    def __init__(self, work: Work, settings: dict[str, Any]) -> None:
        super().__init__(work)
        told = properties(work, "producer", {**_WRITES, **settings})
        self._producer = kafka("clients.producer.KafkaProducer")(told)
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

    def future(self, record: str, topic: str) -> Any:
        return self._producer.send(kafka("clients.producer.ProducerRecord")(topic, record, record))

    def written(self, record: str, future: Any) -> tuple[int, int]:
        try:
            told = future.get(int(self.work.patience * 1000), _MILLISECONDS)
        except java("util.concurrent.TimeoutException"):
            raise GaveUpError(f"{record} is neither acknowledged nor failed") from None
        return int(told.partition()), int(told.offset())

    def begin(self) -> None:
        super().begin()
        self._producer.beginTransaction()

    def send_offsets(self, ends: Ends, consumer: Any) -> None:
        told = java("util.HashMap")()
        for place, end in ends.items():
            told.put(_PLACE(*place), kafka("clients.consumer.OffsetAndMetadata")(end))
        self._producer.sendOffsetsToTransaction(told, consumer.group)

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


class _Consumer(library.Consumer):
    """A KafkaConsumer."""

    def __init__(self, work: Work, reader: Reader, settings: dict[str, Any]) -> None:
        own = {"auto.offset.reset": "earliest", "enable.auto.commit": False, **settings}
        if own.get("partition.assignment.strategy") == COOPERATIVE:
            if not offered(_COOPERATIVE):
                raise NotOfferedError
            own["partition.assignment.strategy"] = f"org.apache.kafka.{_COOPERATIVE}"
        told = {**READS, "max.poll.records": work.at_once, **own}
        kind = kafka("clients.consumer.KafkaConsumer")
        self._consumer = kind(properties(work, reader.name, told))
        self._work = work
        if "group.id" in settings:
            topics = java("util.Arrays").asList(work.topic)
            self._consumer.subscribe(topics, _listener(reader))
            return
        places = [_PLACE(work.topic, number) for number in range(work.partitions)]
        self._consumer.assign(java("util.Arrays").asList(places))
        for number in range(work.partitions):
            reader.got(work.topic, number)

    @property
    def group(self) -> Any:
        """What a transaction is told of the group; releases before 2.5 know its name only."""
        known = hasattr(self._consumer, "groupMetadata")
        return self._consumer.groupMetadata() if known else self._work.group

    def close(self) -> None:
        close(self._consumer)

    def poll(self) -> list[Record]:
        return _records(poll(self._consumer))

    def commit(self, ends: Ends) -> Ends:
        try:
            self._consumer.commitSync()
        except _UNCOMMITTED:  # it was not committed: it may come again
            return {}
        return ends

    def rewind(self) -> list[Place]:
        consumer, places = self._consumer, []
        for place, at in consumer.committed(consumer.assignment()).items():
            if at is None:
                consumer.seekToBeginning(java("util.Arrays").asList(place))
            else:
                consumer.seek(place, at)
            places.append(_place(place))
        return places


def _place(place: Any) -> Place:
    return str(place.topic()), int(place.partition())


def _records(polled: Any) -> list[Record]:
    return [Record(*_place(one), int(one.offset()), str(one.value()).encode()) for one in polled]


def _listener(reader: Reader) -> Any:
    @jpype.JImplements("org.apache.kafka.clients.consumer.ConsumerRebalanceListener")
    class Listener:
        @jpype.JOverride  # type: ignore[untyped-decorator]
        def onPartitionsRevoked(self, places: Any) -> None:  # noqa: N802 (Java's name)
            pass

        @jpype.JOverride  # type: ignore[untyped-decorator]
        def onPartitionsLost(self, places: Any) -> None:  # noqa: N802 (Java's name)
            pass

        @jpype.JOverride  # type: ignore[untyped-decorator]
        def onPartitionsAssigned(self, places: Any) -> None:  # noqa: N802 (Java's name)
            for place in places:
                reader.got(*_place(place))

    return Listener()


class _ShareConsumer(library.ShareConsumer):
    """A KafkaShareConsumer."""

    def __init__(self, work: Work, reader: Reader) -> None:
        kind = "clients.consumer.KafkaShareConsumer"
        if not offered(kind):
            raise NotOfferedError
        told = properties(work, reader.name, {**READS, "group.id": work.group})
        self._consumer = kafka(kind)(told)
        self._consumer.subscribe(java("util.Arrays").asList(work.topic))

    def close(self) -> None:
        close(self._consumer)

    def poll(self) -> list[Record]:
        return _records(poll(self._consumer))

    def commit(self) -> set[Place]:
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
        told = self._client.describeTopics(self._only.singletonList(topic))
        named = told.allTopicNames() if hasattr(told, "allTopicNames") else told.all()
        found = self._known(named)
        return len(found.get(topic).partitions()) if found else 0

    def create(self, topic: str) -> None:
        made = kafka("clients.admin.NewTopic")(topic, jpype.JInt(2), jpype.JShort(1))
        self._done(self._client.createTopics(self._only.singletonList(made)).all())

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
        about = _resource(topic)
        asked = self._client.describeConfigs(self._only.singletonList(about))
        found = self._known(asked.all())
        return str(found.get(about).get("retention.ms").value()) if found else None

    def delete(self, topic: str) -> None:
        self._done(self._client.deleteTopics(self._only.singletonList(topic)).all())


def _resource(topic: str) -> Any:
    kind = kafka("common.config.ConfigResource$Type").TOPIC
    return kafka("common.config.ConfigResource")(kind, topic)


LIBRARY = library.Library(_Producer, _Consumer, _Administrator, _ShareConsumer)
