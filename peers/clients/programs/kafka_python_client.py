"""kafka-python, of any release since 2.0, as workloads use it (`library.py`)."""

from __future__ import annotations

import time
from typing import Any

import library
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType, NewPartitions, NewTopic
from kafka.consumer.subscription_state import ConsumerRebalanceListener
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata
from library import COOPERATIVE, RETENTION, Ends, Place, Record
from work import GaveUpError, NotOfferedError, Reader, Work


def _made(kind: Any, work: Work, client_id: str, settings: dict[str, Any]) -> Any:
    """Make a client; all that is not set has the library's defaults. Raises NotOfferedError."""
    own = library.underscored(settings)
    if own.get("partition_assignment_strategy") == COOPERATIVE:
        own["partition_assignment_strategy"] = (_cooperative(),)
    if not own.keys() <= kind.DEFAULT_CONFIG.keys():
        raise NotOfferedError
    if work.broker:  # one that does not say which versions it knows, as this library expects it
        own["api_version"] = work.broker[: 3 if work.broker < (0, 9) else 2]
    return kind(bootstrap_servers=work.bootstrap, client_id=client_id, **own)


def _cooperative() -> Any:
    try:
        from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
    except ImportError:
        raise NotOfferedError from None
    return CooperativeStickyAssignor


class _Producer(library.ProducerWithFutures):
    """A KafkaProducer."""

    failures = (KafkaError,)

    def __init__(self, work: Work, settings: dict[str, Any]) -> None:
        super().__init__(work)
        self._producer = _made(KafkaProducer, work, "producer", settings)
        self._transactional = "transactional.id" in settings

    def __enter__(self) -> _Producer:
        if self._transactional:
            self._producer.init_transactions()
        return self

    def close(self) -> None:
        self._producer.close(timeout=1)

    def future(self, record: str, topic: str) -> Any:
        return self._producer.send(topic, record.encode(), key=record.encode())

    def written(self, record: str, future: Any) -> tuple[int, int]:
        until = self.work.until
        while not future.is_done:
            if time.monotonic() > until:
                raise GaveUpError(f"{record} is neither acknowledged nor failed")
            time.sleep(0.01)
        told = future.get(0)
        return told.partition, told.offset

    def begin(self) -> None:
        super().begin()
        self._producer.begin_transaction()

    def send_offsets(self, ends: Ends, consumer: Any) -> None:
        told = {TopicPartition(*at): OffsetAndMetadata(end, "", -1) for at, end in ends.items()}
        self._producer.send_offsets_to_transaction(told, consumer.group)

    def commit(self) -> None:
        self._producer.commit_transaction()

    def abort(self) -> None:
        self._producer.abort_transaction()

    def abort_failed(self, problem: KafkaError) -> None:
        try:
            self.abort()
        except KafkaError:  # after a fatal error it refuses
            raise problem from None


class _Consumer(library.Consumer):
    """A KafkaConsumer."""

    def __init__(self, work: Work, reader: Reader, settings: dict[str, Any]) -> None:
        about = {"auto.offset.reset": "earliest", "enable.auto.commit": False}
        self._consumer = _made(KafkaConsumer, work, reader.name, {**about, **settings})
        self._work = work
        if "group.id" in settings:
            self._consumer.subscribe(
                [work.topic], listener=library.listener(ConsumerRebalanceListener, reader)
            )
        else:
            places = [TopicPartition(work.topic, number) for number in range(work.partitions)]
            self._consumer.assign(places)
            reader.assigned(places)

    @property
    def group(self) -> Any:
        """What a transaction is told of the group; releases before 3.0 know its name only."""
        known = hasattr(self._consumer, "group_metadata")
        return self._consumer.group_metadata() if known else self._work.group

    def close(self) -> None:
        self._consumer.close(autocommit=False)

    def poll(self) -> list[Record]:
        found = self._consumer.poll(timeout_ms=100, max_records=self._work.at_once)
        return [
            Record(one.topic, one.partition, one.offset, one.value)
            for records in found.values()
            for one in records
        ]

    def commit(self, ends: Ends) -> Ends:
        try:
            self._consumer.commit()
        except KafkaError:  # it was not committed: it may come again
            return {}
        return ends

    def rewind(self) -> list[Place]:
        consumer = self._consumer
        found = {place: consumer.committed(place) or 0 for place in consumer.assignment()}
        places = [place for place in consumer.assignment() if place in found]
        for place in places:
            consumer.seek(place, found[place])
        return [(place.topic, place.partition) for place in places]


class _Administrator(library.Administrator):
    """A KafkaAdminClient, whose answers are responses before 3.0, and dicts since."""

    def __init__(self, work: Work) -> None:
        self._client = _made(KafkaAdminClient, work, "admin", {})
        self._work = work

    def close(self) -> None:
        self._client.close()

    def partitions(self, topic: str) -> int:
        found = {one.get("name", one.get("topic")): one for one in self._client.describe_topics()}
        return len(found[topic]["partitions"]) if topic in found else 0

    def create(self, topic: str) -> None:
        self._client.create_topics([NewTopic(topic, 2, 1)])

    def increase(self, topic: str) -> None:
        self._client.create_partitions({topic: NewPartitions(3)})

    def change(self, topic: str) -> None:
        self._work.shown(f"a change of {topic}", lambda: self._changed(topic))

    def _changed(self, topic: str) -> bool:
        about = ConfigResource(ConfigResourceType.TOPIC, topic, {"retention.ms": RETENTION})
        try:
            told = self._client.alter_configs([about])
        except ValueError:  # since 3.0 it asks a broker first, which may not know the topic yet
            return False
        # it does not raise the error of a change itself
        why = told["topic"][topic] if isinstance(told, dict) else told.resources[0][1]
        if why not in ("OK", None, ""):
            raise KafkaError(why)
        return True

    def retention(self, topic: str) -> str | None:
        told = self._client.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)])
        if isinstance(told, dict):
            entry = told.get("topic", {}).get(topic, {}).get("retention.ms")
            return None if entry is None else entry["value"]
        return {entry[0]: entry[1] for entry in told[0].resources[0][4]}.get("retention.ms")

    def delete(self, topic: str) -> None:
        self._client.delete_topics([topic])


LIBRARY = library.Library(_Producer, _Consumer, _Administrator)
