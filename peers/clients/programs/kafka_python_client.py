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
from library import COOPERATIVE, RETENTION, Offsets, Partition, Record
from work import GaveUpError, NotOfferedError, PlannedRecord, Reader, Work


def _new_client(kind: Any, work: Work, client_id: str, settings: dict[str, Any]) -> Any:
    """Make a client; all that is not set has the library's defaults. Raises NotOfferedError."""
    named = library.underscored(settings)
    if named.get("partition_assignment_strategy") == COOPERATIVE:
        named["partition_assignment_strategy"] = (_cooperative(),)
    if not named.keys() <= kind.DEFAULT_CONFIG.keys():
        raise NotOfferedError
    if work.broker:  # a broker without ApiVersions: the version as this library expects it
        named["api_version"] = work.broker[: 3 if work.broker < (0, 9) else 2]
    return kind(bootstrap_servers=work.bootstrap, client_id=client_id, **named)


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
        offered = {
            name: work.settings[name]
            for name in work.settings
            if name.replace(".", "_") in KafkaProducer.DEFAULT_CONFIG
        }
        self._producer = _new_client(KafkaProducer, work, "producer", {**offered, **settings})
        self._transactional = "transactional.id" in settings

    def __enter__(self) -> _Producer:
        if self._transactional:
            self._producer.init_transactions()
        return self

    def close(self) -> None:
        self._producer.close(timeout=1)

    def flush(self) -> None:
        self._producer.flush(self.work.patience)

    def close_with_records(self) -> None:
        self._producer.close(self.work.patience)

    def future(self, record: PlannedRecord) -> Any:
        optional = library.named_timestamp(record.optional)
        return self._producer.send(record.topic, record.value, record.key, **optional)

    def written(self, record: PlannedRecord, future: Any, timeout: float) -> tuple[int, int]:
        until = time.monotonic() + timeout
        while not future.is_done:
            if time.monotonic() > until:
                raise GaveUpError(f"{record.id} is neither acknowledged nor failed")
            time.sleep(0.01)
        metadata = future.get(0)
        return metadata.partition, metadata.offset

    def begin(self) -> None:
        super().begin()
        self._producer.begin_transaction()

    def send_offsets(self, offsets: Offsets, consumer: Any) -> None:
        committed = _offsets_and_metadata(offsets)
        self._producer.send_offsets_to_transaction(committed, consumer.group)

    def commit(self) -> None:
        self._producer.commit_transaction()

    def abort(self) -> None:
        self._producer.abort_transaction()

    def abort_failed(self, problem: KafkaError) -> None:
        try:
            self.abort()
        except KafkaError:  # after a fatal error it refuses
            raise problem from None


def _offsets_and_metadata(offsets: Offsets) -> dict[Any, Any]:
    optional = (-1,) if "leader_epoch" in OffsetAndMetadata._fields else ()
    return {
        TopicPartition(*at): OffsetAndMetadata(end, "", *optional) for at, end in offsets.items()
    }


class _Consumer(library.Consumer):
    """A KafkaConsumer."""

    def __init__(
        self, work: Work, reader: Reader, settings: dict[str, Any], pattern: str | None
    ) -> None:
        known = [name.replace("_", ".") for name in KafkaConsumer.DEFAULT_CONFIG]
        defaults = {"auto.offset.reset": "earliest", "enable.auto.commit": False}
        settings = library.offered(settings, known)
        self._consumer = _new_client(KafkaConsumer, work, reader.name, {**defaults, **settings})
        self._work = work
        if "group.id" in settings:
            topics = {"pattern": pattern} if pattern else {"topics": work.topics}
            self._consumer.subscribe(
                **topics, listener=library.listener(ConsumerRebalanceListener, reader)
            )
        else:
            partitions = [TopicPartition(*partition) for partition in work.topic_partitions]
            self._consumer.assign(partitions)
            reader.assigned(partitions)

    @property
    def group(self) -> Any:
        """Return the group for a transaction; releases before 3.0 use its name only."""
        known = hasattr(self._consumer, "group_metadata")
        return self._consumer.group_metadata() if known else self._work.group

    def close(self) -> None:
        self._consumer.close(autocommit=False)

    def poll(self) -> list[Record]:
        batches = self._consumer.poll(timeout_ms=100, max_records=self._work.at_once)
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
        return self._committed(offsets, None)

    def commit_some(self, offsets: Offsets) -> Offsets:
        return self._committed(offsets, _offsets_and_metadata(offsets))

    def _committed(self, offsets: Offsets, to_commit: Any) -> Offsets:
        try:
            self._consumer.commit(to_commit)
        except KafkaError:  # not committed: the records may be delivered again
            return {}
        return offsets

    def pause(self) -> None:
        self._consumer.pause(*self._consumer.assignment())

    def resume(self) -> None:
        self._consumer.resume(*self._consumer.assignment())

    def rewind(self) -> list[Partition]:
        consumer = self._consumer
        offsets = {
            partition: consumer.committed(partition) or 0 for partition in consumer.assignment()
        }
        partitions = [partition for partition in consumer.assignment() if partition in offsets]
        for partition in partitions:
            consumer.seek(partition, offsets[partition])
        return [(partition.topic, partition.partition) for partition in partitions]


class _Administrator(library.Administrator):
    """A KafkaAdminClient, which returns responses before 3.0, and dicts since."""

    def __init__(self, work: Work) -> None:
        self._client = _new_client(KafkaAdminClient, work, "admin", {})
        self._work = work

    def close(self) -> None:
        self._client.close()

    def partitions(self, topic: str) -> int:
        topics = {
            description.get("name", description.get("topic")): description
            for description in self._client.describe_topics()
        }
        return len(topics[topic]["partitions"]) if topic in topics else 0

    def create(self, topic: str) -> None:
        self._client.create_topics([NewTopic(topic, 2, 1)])

    def increase(self, topic: str) -> None:
        self._client.create_partitions({topic: NewPartitions(3)})

    def change(self, topic: str) -> None:
        self._work.wait_until_visible(f"a change of {topic}", lambda: self._changed(topic))

    def _changed(self, topic: str) -> bool:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic, {"retention.ms": RETENTION})
        try:
            response = self._client.alter_configs([resource])
        except (
            ValueError
        ):  # since 3.0 it requests the config first, from a broker that may not know the topic yet
            return False
        # it does not raise the error of a change itself
        error = response["topic"][topic] if isinstance(response, dict) else response.resources[0][1]
        if error not in ("OK", None, ""):
            raise KafkaError(error)
        return True

    def retention(self, topic: str) -> str | None:
        response = self._client.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)])
        if isinstance(response, dict):
            entry = response.get("topic", {}).get(topic, {}).get("retention.ms")
            return None if entry is None else entry["value"]
        return {entry[0]: entry[1] for entry in response[0].resources[0][4]}.get("retention.ms")

    def delete(self, topic: str) -> None:
        self._client.delete_topics([topic])


LIBRARY = library.Library(_Producer, _Consumer, _Administrator)
