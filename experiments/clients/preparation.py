"""The topics of a trial: they are created, get a history, and records for workloads that read."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import wait
from typing import Final, NamedTuple

from barnabas.experiments.clients.draws import Draw
from barnabas.experiments.clients.leaders import move_leaders
from barnabas.experiments.clients.traffic import topics_of
from barnabas.experiments.clients.trial_setup import TrialSetup
from barnabas.experiments.clients.workloads import COME_AND_GO, Workload
from barnabas.experiments.explore.history import (
    Acknowledged,
    Consumed,
    Event,
    OffsetCommitted,
    Sent,
    TopicPartition,
)
from barnabas.experiments.explore.history import Consumer as ConsumerDeclared
from barnabas.experiments.explore.read_log import id_of, read_log

SOON: Final = 20.0
"""Seconds that brokers may take without a fault."""

NAME: Final = "barnabas-prepares"
"""The client id and the producer's name in histories."""

EARLIER: Final = 40
"""Records of a topic's history."""

COMPACTED: Final = {
    "cleanup.policy": "compact",
    "min.cleanable.dirty.ratio": "0.01",
    "segment.ms": "100",
}
"""Settings of a topic that is compacted soon after its records are written."""

SEGMENT: Final = 0.3
"""Seconds after which a record begins a new segment of such a topic: the last segment is not compacted."""


LATE: Final = 0.2
"""The share of the records of a topic that is created later (`during.py`)."""


DELETED: Final = "deleted"
"""A part of the keys that have a tombstone."""

Record = tuple[str, str, str | None]
"""Topic, key and value of a record."""


class Prepared(NamedTuple):
    """Topics that are ready for a client.

    events: the history of the group's earlier run, and of records that the client is to read. starts: the
    offsets at which these begin.
    topics: those that were created.
    """

    events: list[Event]
    starts: dict[TopicPartition, int]
    topics: Sequence[str]

    @property
    def lines(self) -> bytes:
        """Return the events as lines of a history."""
        texts = (event.model_dump_json(exclude_none=True) for event in self.events)
        return b"".join(text.encode() + b"\n" for text in texts)


def prepare(setup: TrialSetup, topic: str, workload: Workload) -> Prepared:
    """Create a workload's topics, and write records for consumers. Raises OSError."""
    from confluent_kafka import KafkaException

    preparation = _Preparation(setup, topic, workload)
    try:
        return preparation.prepare()
    except (KafkaException, TimeoutError) as problem:
        reason = str(problem) or f"no answer within {SOON:g} s"
        if setup.makes and isinstance(problem, TimeoutError):
            reason += "; in place of `barnabas peers start librdkafka`, use --broker librdkafka"
        raise OSError(f"{setup.bootstrap} has not made {topic}: {reason}") from None


def delete_topics(setup: TrialSetup, topics: Collection[str]) -> None:
    """Delete topics of a trial, so that later ones do not get their metadata. Missing ones are ignored.

    Brokers for which barnabas does not create topics (0.10.0 and older) can't delete them either.
    """
    from confluent_kafka.admin import AdminClient

    if setup.makes:
        admin = AdminClient(
            setup.librdkafka
        )  # it ends without a reference, and with it the request
        wait(admin.delete_topics([*topics]).values(), SOON)


def late_topic(topic: str) -> str:
    """Return the name of a topic that is created later."""
    return f"{topic}-topic-9"


def late_records(topic: str, drawn: Draw) -> list[str]:
    """Return the ids of its records."""
    return [f"{topic}-{n}" for n in range(round(drawn.records * (1 - LATE)), drawn.records)]


def produce(setup: TrialSetup, records: Sequence[Record]) -> None:
    """Write records. Raises OSError."""
    from confluent_kafka import Producer

    settings = {"client.id": NAME, "enable.idempotence": setup.makes}
    producer = Producer({**setup.librdkafka, **settings})
    for topic, key, value in records:
        producer.produce(topic, None if value is None else value.encode(), key.encode())
    if producer.flush(SOON):
        raise OSError(f"the brokers took no records for {records[0][0]}")


class _Preparation:
    """The preparation of the topics of a trial: setup, first topic and workload."""

    def __init__(self, setup: TrialSetup, topic: str, workload: Workload) -> None:
        self._settings = {**setup.librdkafka, "client.id": NAME}
        self._setup, self._workload, self._topic = setup, workload, topic
        self._drawn = setup.traffic(workload)
        self._topics = topics_of(self._drawn, topic)
        self._created = [*self._topics, *([f"{topic}-out"] if workload.copies else [])]
        self._starts: dict[TopicPartition, int] = {}

    @property
    def group(self) -> str:
        """Return the name of the workload's group."""
        return f"{self._topic}-group"

    def prepare(self) -> Prepared:
        """Create the topics, and write records. Raises KafkaException, TimeoutError and OSError."""
        self._create_topics()
        earlier = [] if self._drawn.history == "none" else self._write_earlier_records()
        if self._workload.share:
            self._read_share_group_from_the_beginning()
        records = self._write_records() if self._workload.written else []
        return Prepared([*earlier, *records], self._starts, self._created)

    def _create_topics(self) -> None:
        from confluent_kafka.admin import AdminClient, NewTopic

        admin, workload = AdminClient(self._settings), self._workload
        topics, partitions = self._created, self._drawn.partitions
        config = COMPACTED if workload.compacted else {}
        if self._setup.makes:
            new_topics = [
                NewTopic(name, partitions, workload.replicas, config=config) for name in topics
            ]
            for creation in admin.create_topics(new_topics).values():
                creation.result(SOON)
        else:
            for name in topics:
                admin.list_topics(name, timeout=SOON)
        self._ends(topics)
        if self._drawn.moved and self._setup.cluster:
            move_leaders(self._setup, self._setup.cluster, self._topics)

    def _ends(self, topics: Sequence[str]) -> dict[TopicPartition, int]:
        """Return the end offsets; wait until the leaders have their logs.

        A broker knows a new topic a moment before it can write to it: if it refuses the first batch of an
        idempotent producer then and takes the second one, the first is out of order for ever.
        """
        from confluent_kafka import Consumer, KafkaException, TopicPartition

        consumer = Consumer({**self._settings, "group.id": NAME})  # it has to have one
        until, ends = time.monotonic() + SOON, {}
        try:
            for at in [(name, each) for name in topics for each in range(self._drawn.partitions)]:
                while at not in ends:
                    try:
                        partition = TopicPartition(*at)
                        ends[at] = consumer.get_watermark_offsets(partition, timeout=SOON)[1]
                    except KafkaException:
                        if time.monotonic() > until:
                            raise
                        time.sleep(0.02)
        finally:
            consumer.close()
        return ends

    def _write_earlier_records(self) -> list[Event]:
        """Write records that are deleted then, or which the group has committed; return what it did."""
        from confluent_kafka import Consumer, TopicPartition
        from confluent_kafka.admin import AdminClient

        names = [f"{self._topic}-earlier-{number}" for number in range(EARLIER)]
        produce(self._setup, [(topic, name, name) for topic in self._topics for name in names])
        self._starts = self._ends(self._topics)
        ends = [TopicPartition(*at, end) for at, end in self._starts.items()]
        if self._drawn.history == "deleted":
            admin = AdminClient(self._settings)
            for deletion in admin.delete_records(ends).values():
                deletion.result(SOON)
            return []
        consumer = Consumer({**self._settings, "group.id": self.group})
        try:
            consumer.commit(offsets=ends, asynchronous=False)
        finally:
            consumer.close()
        read = [
            Consumed(
                consumer=NAME,
                id=f"{topic}-earlier",
                topic=topic,
                partition=partition,
                offset=offset,
            )
            for (topic, partition), end in self._starts.items()
            for offset in range(end)
        ]
        committed = [
            OffsetCommitted(group=self.group, topic=topic, partition=partition, offset=end)
            for (topic, partition), end in self._starts.items()
        ]
        return [ConsumerDeclared(consumer=NAME, group=self.group), *read, *committed]

    def _write_records(self) -> list[Event]:
        """Write the records that the client is to read, alternately to each topic."""
        names = [f"{self._topic}-{number}" for number in range(self._drawn.records)]
        topics = {name: self._topics[n % len(self._topics)] for n, name in enumerate(names)}
        late = []
        if self._workload.during == COME_AND_GO:
            late = late_records(self._topic, self._drawn)
            topics |= dict.fromkeys(late, late_topic(self._topic))
        earlier = self._write_old_values(topics) if self._workload.compacted else []
        produce(self._setup, [(topics[name], name, name) for name in names if name not in late])
        if self._workload.compacted:
            self._await_compaction()
        return [
            *earlier,
            *(Sent(id=name, topic=topics[name], producer=NAME) for name in names),
            *(Acknowledged(id=name, topic=topics[name]) for name in names),
        ]

    def _write_old_values(self, topics: Mapping[str, str]) -> list[Event]:
        """Write old values of all records, and values and tombstones of further keys."""
        deleted = [f"{self._topic}-{DELETED}-{number}" for number in range(EARLIER)]
        old: list[Record] = [(topic, name, f"{name}-old") for name, topic in topics.items()]
        old += [(self._topic, name, f"{name}-old") for name in deleted]
        tombstones: list[Record] = [(self._topic, name, None) for name in deleted]
        for records in (old, tombstones):
            produce(self._setup, records)
            time.sleep(SEGMENT)
        return [
            Sent(id=value or key, topic=topic, producer=NAME)
            for topic, key, value in (*old, *tombstones)
        ]

    def _await_compaction(self) -> None:
        """Wait until values with a tombstone are gone, and end the compaction: logs must stay as they are."""
        until = time.monotonic() + SOON
        while time.monotonic() < until:
            log = read_log(self._setup.bootstrap, self._topics, {}, id_of("value"), settle=0)
            if not any(f"-{DELETED}-" in record.id for record in log.records):
                break
            time.sleep(SEGMENT)
        self._set_config("TOPIC", self._topics, "cleanup.policy", "delete")

    def _read_share_group_from_the_beginning(self) -> None:
        """Let a share group begin with the oldest records, which is a setting of the group (KIP-932)."""
        self._set_config("GROUP", [self.group], "share.auto.offset.reset", "earliest")

    def _set_config(self, kind: str, names: Sequence[str], setting: str, value: str) -> None:
        """Change a setting of resources. kind: of confluent-kafka's ResourceType."""
        from confluent_kafka.admin import (
            AdminClient,
            AlterConfigOpType,
            ConfigEntry,
            ConfigResource,
            ResourceType,
        )

        entry = ConfigEntry(setting, value, incremental_operation=AlterConfigOpType.SET)
        resources = [
            ConfigResource(ResourceType[kind], name, incremental_configs=[entry]) for name in names
        ]
        admin = AdminClient(self._settings)
        for change in admin.incremental_alter_configs(resources).values():
            change.result(SOON)
