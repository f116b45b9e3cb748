"""Workloads of kafka-python: those that read."""

from __future__ import annotations

from typing import Any

from kafka import KafkaConsumer, TopicPartition
from kafka.consumer.subscription_state import ConsumerRebalanceListener
from kafka.errors import KafkaError
from kafka_python_producing import settings
from work import Missing, NotOfferedError, Reader, Work


def assign(work: Work) -> int:
    """Read all records of partitions that it chose itself."""
    missing, reader = Missing(work, stays=False), Reader(work, group=False)
    consumer = make_consumer(work, reader)
    places = [TopicPartition(work.topic, number) for number in range(work.partitions)]
    consumer.assign(places)
    reader.assigned(places)
    try:
        while missing.goes_on():
            _, found = read(work, consumer, reader)
            for value in found:
                missing.found(value)
    finally:
        consumer.close(autocommit=False)
    return work.records


def group(work: Work) -> int:
    """Read all records in a group, committing what was read."""
    missing = Missing(work)
    _member(work, missing, "reader")
    return work.records


def cooperative(work: Work) -> int:
    """The same by two members, who keep what stays theirs in a rebalance."""
    try:
        from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
    except ImportError:
        raise NotOfferedError from None
    own = {"partition_assignment_strategy": (CooperativeStickyAssignor,)}
    missing = Missing(work)
    missing.by_two(lambda name: _member(work, missing, name, **own))
    return work.records


def _member(work: Work, missing: Missing, name: str, **own: Any) -> None:
    reader = Reader(work, name)
    consumer = subscribed(work, reader, **own)
    try:
        while missing.goes_on():
            ends, found = read(work, consumer, reader)
            for value in found:
                missing.found(value)
            if ends:
                try:
                    consumer.commit()
                except KafkaError:  # it was not committed: it may come again
                    continue
                for place, offset in ends.items():
                    work.committed(place.topic, place.partition, offset)
    finally:
        consumer.close(autocommit=False)


def subscribed(work: Work, reader: Reader, **own: Any) -> Any:
    """A consumer that will join the work's group."""

    class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
        def on_partitions_revoked(self, revoked: Any) -> None:
            pass

        def on_partitions_assigned(self, assigned: Any) -> None:
            reader.assigned(assigned)

    consumer = make_consumer(work, reader, group_id=work.group, **own)
    consumer.subscribe([work.topic], listener=Listener())
    return consumer


def make_consumer(work: Work, reader: Reader, **own: Any) -> Any:
    """One that commits by itself nothing."""
    about = {"auto_offset_reset": "earliest", "enable_auto_commit": False}
    return KafkaConsumer(**settings(work, reader.name, **about, **own))


def read(work: Work, consumer: Any, reader: Reader) -> tuple[dict[Any, int], list[bytes]]:
    """Poll once: places and the offsets behind what came there, and the values."""
    ends, values = {}, []
    found = consumer.poll(timeout_ms=100, max_records=work.at_once)
    for place, records in found.items():
        for one in records:
            reader.consumed(one.topic, one.partition, one.offset, one.value)
            values.append(one.value)
            ends[place] = one.offset + 1
    return ends, values
