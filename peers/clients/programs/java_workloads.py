"""Workloads of the Java client, through JPype."""

from __future__ import annotations

import time
from typing import Any

import java_sessions  # noqa: F401 (starts the JVM, and says how exceptions are told)
import jpype
from lines import GaveUpError, Work

_CLIENTS = jpype.JPackage("org.apache.kafka.clients")
_ERRORS = jpype.JPackage("org.apache.kafka.common.errors")
_STRING = "org.apache.kafka.common.serialization.String"
_UNIT = jpype.java.util.concurrent.TimeUnit.MILLISECONDS
_duration = jpype.java.time.Duration.ofMillis


def _properties(work: Work, **own: Any) -> Any:
    made = jpype.java.util.Properties()
    named = {name.replace("_", "."): value for name, value in own.items()}
    for name, value in {"bootstrap.servers": work.bootstrap, **named}.items():
        made.setProperty(name, str(value))
    return made


def _producer(work: Work, **own: Any) -> Any:
    coded = {"key_serializer": f"{_STRING}Serializer", "value_serializer": f"{_STRING}Serializer"}
    return _CLIENTS.producer.KafkaProducer(_properties(work, client_id="producer", **coded, **own))


def _send(work: Work, producer: Any, record: str, transaction: str | None) -> Any:
    work.sent(record, transaction)
    return producer.send(_CLIENTS.producer.ProducerRecord(work.topic, record, record))


def _acknowledged(work: Work, record: str, future: Any) -> None:
    try:
        told = future.get(int(work.patience * 1000), _UNIT)
    except jpype.java.util.concurrent.TimeoutException:
        raise GaveUpError(f"{record} is neither acknowledged nor failed") from None
    offset = int(told.offset()) if told.hasOffset() else None
    work.acknowledged(record, int(told.partition()), offset)


def produce(work: Work) -> int:
    """Send records, one after the other."""
    return _send_all(work, _producer(work))


def idempotent(work: Work) -> int:
    """The same, each written once."""
    return _send_all(work, _producer(work, enable_idempotence="true", acks="all"))


def _send_all(work: Work, producer: Any) -> int:
    waiting = []
    try:
        for record in work.ids:
            waiting.append((record, _send(work, producer, record, None)))
            time.sleep(work.pause)
        for record, future in waiting:
            _acknowledged(work, record, future)
    finally:
        producer.close(_duration(1000))
    return 0


def transact(work: Work) -> int:
    """Send records in transactions, each third aborted; one that can be is tried again."""
    producer = _producer(work, transactional_id=work.group)
    try:
        producer.initTransactions()
        for number, batch in enumerate(work.batches):
            for attempt in range(work.attempts):
                if _transaction(work, producer, f"{number}.{attempt}", batch, work.aborts(number)):
                    break
            else:
                raise GaveUpError(f"transaction {number} was aborted {work.attempts} times")
    finally:
        producer.close(_duration(1000))
    return 0


def _transaction(work: Work, producer: Any, name: str, batch: list[str], aborts: bool) -> bool:
    """False: it was aborted, and may be tried again, as the documents of KafkaProducer have it."""
    producer.beginTransaction()
    try:
        waiting = [(record, _send(work, producer, record, name)) for record in batch]
        for record, future in waiting:
            _acknowledged(work, record, future)
        if aborts:
            producer.abortTransaction()
            work.ended(name, "aborted")
        else:
            _commit(work, producer)
            work.ended(name, "committed")
        return True
    except (
        _ERRORS.ProducerFencedException,
        _ERRORS.OutOfOrderSequenceException,
        _ERRORS.AuthorizationException,
    ):
        raise
    except (
        jpype.java.util.concurrent.ExecutionException,
        jpype.JClass("org.apache.kafka.common.KafkaException"),
    ):
        producer.abortTransaction()
        work.ended(name, "aborted")
        return False


def _commit(work: Work, producer: Any) -> None:
    """One that takes too long is asked for again, as its documents say."""
    until = work.until
    while True:
        try:
            producer.commitTransaction()
            return
        except _ERRORS.TimeoutException:
            if time.monotonic() > until:
                raise


def group(work: Work) -> int:
    """Read all records in a group, committing what was read."""
    consumer = _CLIENTS.consumer.KafkaConsumer(
        _properties(
            work,
            client_id="reader",
            group_id=work.group,
            key_deserializer=f"{_STRING}Deserializer",
            value_deserializer=f"{_STRING}Deserializer",
            auto_offset_reset="earliest",
            enable_auto_commit="false",
            max_poll_records=work.at_once,
        )
    )

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
                work.got(str(place.topic()), int(place.partition()))

    work.consumer()
    missing, until = set(work.ids), work.until
    try:
        consumer.subscribe(jpype.java.util.Arrays.asList(work.topic), Listener())
        while missing or work.stays:
            if time.monotonic() > until:
                raise GaveUpError(f"{len(missing)} records were not delivered")
            ends = {}
            for one in consumer.poll(_duration(100)):
                at = str(one.topic()), int(one.partition()), int(one.offset())
                work.consumed(*at, str(one.value()).encode())
                missing.discard(str(one.value()))
                ends[at[:2]] = at[2] + 1
            if not ends:
                continue
            try:
                consumer.commitSync()
            except (_ERRORS.RetriableException, _CLIENTS.consumer.CommitFailedException):
                continue  # it was not committed: it may come again
            for (topic, partition), offset in ends.items():
                work.committed(topic, partition, offset)
    finally:
        consumer.close(_duration(1000))
    return len(work.ids)
