"""Workloads of kafka-python, of any release since 2.0: those that write."""

from __future__ import annotations

import time
from typing import Any

from kafka import KafkaProducer
from kafka.errors import KafkaError
from work import GaveUpError, NotOfferedError, Work


def settings(work: Work, client_id: str, **own: Any) -> dict[str, Any]:
    """These, and what every client has; else it has the library's."""
    found = {"bootstrap_servers": work.bootstrap, "client_id": client_id, **own}
    if work.broker:  # one that does not say which versions it knows, as this library expects it
        found["api_version"] = work.broker[: 3 if work.broker < (0, 9) else 2]
    return found


def make_producer(work: Work, **own: Any) -> Any:
    """One of these settings. Raises NotOfferedError if it has no such setting."""
    if not own.keys() <= KafkaProducer.DEFAULT_CONFIG.keys():
        raise NotOfferedError
    return KafkaProducer(**settings(work, "producer", **own))


def send(
    work: Work, producer: Any, record: str, transaction: str | None, topic: str | None = None
) -> Any:
    """Hand a record to it; topic: another than the work's."""
    work.sent(record, transaction, topic)
    return producer.send(topic or work.topic, record.encode(), key=record.encode())


def acknowledged(work: Work, record: str, future: Any, topic: str | None = None) -> None:
    """Wait until it is. Raises GaveUpError, and what the client does."""
    until = work.until
    while not future.is_done:
        if time.monotonic() > until:
            raise GaveUpError(f"{record} is neither acknowledged nor failed")
        time.sleep(0.01)
    told = future.get(0)
    work.acknowledged(record, told.partition, told.offset, topic)


def produce(work: Work) -> int:
    """Send records, one after the other."""
    return _send_all(work, make_producer(work), work.ids)


def idempotent(work: Work) -> int:
    """The same, each written once."""
    return _send_all(work, make_producer(work, enable_idempotence=True), work.ids)


def compressed(work: Work) -> int:
    """The same with each compression, by a producer of its own."""
    for codec, ids in work.coded:
        _send_all(
            work, make_producer(work, compression_type=None if codec == "none" else codec), ids
        )
    return 0


def _send_all(work: Work, producer: Any, ids: list[str]) -> int:
    waiting = []
    for record in ids:
        waiting.append((record, send(work, producer, record, None)))
        time.sleep(work.pause)
    try:
        for record, future in waiting:
            acknowledged(work, record, future)
    finally:
        producer.close(timeout=1)
    return 0


def transact(work: Work) -> int:
    """Send records in transactions, each third aborted; one that can be is tried again."""
    producer = make_producer(work, transactional_id=work.group)
    try:
        producer.init_transactions()
        for number, batch in enumerate(work.batches):
            for attempt in range(work.attempts):
                if _transaction(work, producer, f"{number}.{attempt}", batch, work.aborts(number)):
                    break
            else:
                raise GaveUpError(f"transaction {number} was aborted {work.attempts} times")
    finally:
        producer.close(timeout=1)
    return 0


def _transaction(work: Work, producer: Any, name: str, batch: list[str], aborts: bool) -> bool:
    """False: it was aborted, and may be tried again."""
    producer.begin_transaction()
    try:
        waiting = [(record, send(work, producer, record, name)) for record in batch]
        for record, future in waiting:
            acknowledged(work, record, future)
        if aborts:
            producer.abort_transaction()
            work.ended(name, "aborted")
        else:
            producer.commit_transaction()
            work.ended(name, "committed")
        return True
    except KafkaError as problem:
        abort(work, producer, name, problem)
        return False


def abort(work: Work, producer: Any, name: str, problem: KafkaError) -> None:
    """Abort a transaction in which this was raised. Raises it where the producer can't go on."""
    try:
        producer.abort_transaction()
    except KafkaError:  # after a fatal error it refuses
        raise problem from None
    work.ended(name, "aborted")
