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


def known(within: Any, *names: str) -> tuple[Any, ...]:
    """Those of these classes that this release has."""
    return tuple(getattr(within, name) for name in names if hasattr(within, name))


FATAL = known(
    ERRORS, "ProducerFencedException", "OutOfOrderSequenceException", "AuthorizationException"
)
"""After which a producer is to be closed, as the documents of KafkaProducer have it."""

ABORTABLE = (
    jpype.java.util.concurrent.ExecutionException,
    jpype.JClass("org.apache.kafka.common.KafkaException"),
)
"""After which a transaction is to be aborted."""

_UNIT = jpype.java.util.concurrent.TimeUnit.MILLISECONDS


def poll(consumer: Any, milliseconds: int = 100) -> Any:
    """What comes so soon."""
    try:
        return consumer.poll(jpype.java.time.Duration.ofMillis(milliseconds))
    except TypeError:  # before 2.0
        return consumer.poll(milliseconds)


def close(client: Any, milliseconds: int = 1000) -> None:
    """Close a client, which may take so long."""
    try:
        client.close(jpype.java.time.Duration.ofMillis(milliseconds))
    except TypeError:  # before 2.0
        client.close()


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
    work.acknowledged(record, int(told.partition()), int(told.offset()), topic)


def produce(work: Work) -> int:
    """Send records, one after the other."""
    return _send_all(work, make_producer(work), work.ids)


def idempotent(work: Work) -> int:
    """The same, each written once."""
    return _send_all(work, make_producer(work, enable_idempotence="true", acks="all"), work.ids)


def compressed(work: Work) -> int:
    """The same with each compression, by a producer of its own."""
    for codec, ids in work.coded:
        _send_all(work, make_producer(work, compression_type=codec), ids)
    return 0


def _send_all(work: Work, producer: Any, ids: list[str]) -> int:
    waiting = []
    try:
        for record in ids:
            waiting.append((record, send(work, producer, record, None)))
            time.sleep(work.pause)
        for record, future in waiting:
            acknowledged(work, record, future)
    finally:
        close(producer)
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
        close(producer)
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
