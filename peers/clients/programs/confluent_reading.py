"""Workloads of confluent-kafka: those that read."""

from __future__ import annotations

from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_producing import settings
from work import Missing, NotOfferedError, Reader, Work


def assign(work: Work) -> int:
    """Read all records of partitions that it chose itself."""
    missing, reader = Missing(work, stays=False), Reader(work, group=False)
    consumer = make_consumer(work, reader)
    places = [TopicPartition(work.topic, number, 0) for number in range(work.partitions)]
    consumer.assign(places)
    reader.assigned(places)
    try:
        while missing.goes_on():
            read(work, consumer, reader, missing)
    finally:
        consumer.close()
    return work.records


def group(work: Work) -> int:
    """Read all records in a group, committing what was read."""
    missing = Missing(work)
    _member(work, missing, "reader")
    return work.records


def cooperative(work: Work) -> int:
    """The same by two members, who keep what stays theirs in a rebalance."""
    return _two_members(work, **{"partition.assignment.strategy": "cooperative-sticky"})


def consumer_protocol(work: Work) -> int:
    """The same in a group of the protocol of KIP-848."""
    return _two_members(work, **{"group.protocol": "consumer"})


def _two_members(work: Work, **own: Any) -> int:
    missing = Missing(work)
    missing.by_two(lambda name: _member(work, missing, name, **own))
    return work.records


def _member(work: Work, missing: Missing, name: str, **own: Any) -> None:
    reader = Reader(work, name)
    consumer = make_consumer(work, reader, **own)
    try:
        if (0,) < work.broker < (0, 9):  # such brokers keep a group's offsets, but have no members
            places = [TopicPartition(work.topic, number) for number in range(work.partitions)]
            consumer.assign(places)
            reader.assigned(places)
        else:
            consumer.subscribe([work.topic], on_assign=lambda _, places: reader.assigned(places))
        while missing.goes_on():
            if read(work, consumer, reader, missing):
                commit(work, consumer)
    finally:
        consumer.close()


def make_consumer(work: Work, reader: Reader, **own: Any) -> Any:
    """One that commits by itself nothing. Raises NotOfferedError if it has no such setting."""
    try:
        about = {"group.id": work.group, "auto.offset.reset": "earliest"}
        return Consumer(
            settings(work, reader.name, **about, **{"enable.auto.commit": False, **own})
        )
    except KafkaException as problem:
        if problem.args[0].code() == KafkaError._INVALID_ARG:  # a release without such a setting
            raise NotOfferedError from None
        raise


def read(work: Work, consumer: Any, reader: Reader, missing: Missing) -> list[Any]:
    """What came, told, and missing no more."""
    found = [one for one in consumer.consume(work.at_once, timeout=0.1) if not one.error()]
    for one in found:
        reader.consumed(one.topic(), one.partition(), one.offset(), one.value())
        missing.found(one.value())
    return found


def commit(work: Work, consumer: Any) -> None:
    """Commit what was read, or stored, and tell of it."""
    try:
        committed = consumer.commit(asynchronous=False)
    except KafkaException:  # it was not committed: it may come again
        return
    for place in committed:
        if place.error is None and place.offset >= 0:
            work.committed(place.topic, place.partition, place.offset)


def share_group(work: Work) -> int:
    """Read all records in a share group, which acknowledges each batch."""
    try:
        from confluent_kafka import ShareConsumer
    except ImportError:
        raise NotOfferedError from None
    missing, reader = Missing(work), Reader(work, share=True)
    consumer = ShareConsumer(settings(work, reader.name, **{"group.id": work.group}))
    try:
        consumer.subscribe([work.topic])
        while missing.goes_on():
            found = [one for one in consumer.poll(0.1) if not one.error()]
            for one in found:
                reader.consumed(one.topic(), one.partition(), one.offset(), one.value())
                missing.found(one.value())
            try:
                told = consumer.commit_sync(work.patience)
            except KafkaException:  # it was not taken: it may come again
                continue
            taken = {(place.topic, place.partition) for place, why in told.items() if why is None}
            for one in found:
                if (one.topic(), one.partition()) in taken:
                    reader.accepted(one.topic(), one.partition(), one.offset())
    finally:
        consumer.close()
    return work.records
