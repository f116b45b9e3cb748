"""Workloads of the Java client, through JPype: those that write."""

from __future__ import annotations

import time
from typing import Any

import java_sessions  # noqa: F401 (starts the JVM, and says how exceptions are told)
import jpype
from work import GaveUpError, Work

CLIENTS = jpype.JPackage("org.apache.kafka.clients")
ERRORS = jpype.JPackage("org.apache.kafka.common.errors")
STRING = "org.apache.kafka.common.serialization.String"

FATAL = (
    ERRORS.ProducerFencedException,
    ERRORS.OutOfOrderSequenceException,
    ERRORS.AuthorizationException,
)
"""After which a producer is to be closed, as the documents of KafkaProducer have it."""

ABORTABLE = (
    jpype.java.util.concurrent.ExecutionException,
    jpype.JClass("org.apache.kafka.common.KafkaException"),
)
"""After which a transaction is to be aborted."""

milliseconds = jpype.java.time.Duration.ofMillis
_UNIT = jpype.java.util.concurrent.TimeUnit.MILLISECONDS


def properties(work: Work, **own: Any) -> Any:
    """Settings, with _ for each dot."""
    made = jpype.java.util.Properties()
    named = {name.replace("_", "."): value for name, value in own.items()}
    for name, value in {"bootstrap.servers": work.bootstrap, **named}.items():
        made.setProperty(name, str(value))
    return made


def make_producer(work: Work, **own: Any) -> Any:
    """One of these settings; else it has the library's."""
    coded = {"key_serializer": f"{STRING}Serializer", "value_serializer": f"{STRING}Serializer"}
    return CLIENTS.producer.KafkaProducer(properties(work, client_id="producer", **coded, **own))


def send(
    work: Work, producer: Any, record: str, transaction: str | None, topic: str | None = None
) -> Any:
    """Hand a record to it; topic: another than the work's."""
    work.sent(record, transaction, topic)
    return producer.send(CLIENTS.producer.ProducerRecord(topic or work.topic, record, record))


def acknowledged(work: Work, record: str, future: Any, topic: str | None = None) -> None:
    """Wait until it is. Raises GaveUpError, and what the client does."""
    try:
        told = future.get(int(work.patience * 1000), _UNIT)
    except jpype.java.util.concurrent.TimeoutException:
        raise GaveUpError(f"{record} is neither acknowledged nor failed") from None
    offset = int(told.offset()) if told.hasOffset() else None
    work.acknowledged(record, int(told.partition()), offset, topic)


def produce(work: Work) -> int:
    """Send records, one after the other."""
    return _send_all(work, make_producer(work))


def idempotent(work: Work) -> int:
    """The same, each written once."""
    return _send_all(work, make_producer(work, enable_idempotence="true", acks="all"))


def _send_all(work: Work, producer: Any) -> int:
    waiting = []
    try:
        for record in work.ids:
            waiting.append((record, send(work, producer, record, None)))
            time.sleep(work.pause)
        for record, future in waiting:
            acknowledged(work, record, future)
    finally:
        producer.close(milliseconds(1000))
    return 0


def transact(work: Work) -> int:
    """Send records in transactions, each third aborted; one that can be is tried again."""
    producer = make_producer(work, transactional_id=work.group)
    try:
        producer.initTransactions()
        for number, batch in enumerate(work.batches):
            for attempt in range(work.attempts):
                if _transaction(work, producer, f"{number}.{attempt}", batch, work.aborts(number)):
                    break
            else:
                raise GaveUpError(f"transaction {number} was aborted {work.attempts} times")
    finally:
        producer.close(milliseconds(1000))
    return 0


def _transaction(work: Work, producer: Any, name: str, batch: list[str], aborts: bool) -> bool:
    """False: it was aborted, and may be tried again, as the documents of KafkaProducer have it."""
    producer.beginTransaction()
    try:
        waiting = [(record, send(work, producer, record, name)) for record in batch]
        for record, future in waiting:
            acknowledged(work, record, future)
        if aborts:
            producer.abortTransaction()
            work.ended(name, "aborted")
        else:
            commit(work, producer)
            work.ended(name, "committed")
        return True
    except FATAL:
        raise
    except ABORTABLE:
        producer.abortTransaction()
        work.ended(name, "aborted")
        return False


def commit(work: Work, producer: Any) -> None:
    """Commit a transaction; one that takes too long is asked for again, as its documents say."""
    until = work.until
    while True:
        try:
            producer.commitTransaction()
            return
        except ERRORS.TimeoutException:
            if time.monotonic() > until:
                raise
