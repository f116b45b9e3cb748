"""Workloads of confluent-kafka, which is librdkafka, of any release since 1.0: those that write."""

from __future__ import annotations

import time
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer
from work import GaveUpError, Work


def settings(work: Work, client_id: str, **own: Any) -> dict[str, Any]:
    """These, and what every client has; else it has the library's."""
    found = {"bootstrap.servers": work.bootstrap, "client.id": client_id, "log_level": 0, **own}
    if (0,) < work.broker < (0, 10):  # brokers that do not say which versions they know
        found["api.version.request"] = False
        found["broker.version.fallback"] = ".".join(map(str, work.broker))
    return found


def make_producer(work: Work, **own: Any) -> Any:
    """One of these settings."""
    return Producer(settings(work, "producer", **own))


def send(
    work: Work,
    producer: Any,
    record: str,
    failed: list[Any],
    transaction: str | None,
    topic: str | None = None,
) -> None:
    """Hand a record to it, and its failure to a list. topic: another than the work's."""

    def told(error: Any, message: Any) -> None:
        if error is None:
            work.acknowledged(record, message.partition(), message.offset(), topic)
        elif error.code() != KafkaError._PURGE_QUEUE:
            failed.append(error)

    work.sent(record, transaction, topic)
    producer.produce(topic or work.topic, value=record, key=record, on_delivery=told)
    producer.poll(0)


def produce(work: Work) -> int:
    """Send records, one after the other."""
    return _send_all(work, make_producer(work), work.ids)


def idempotent(work: Work) -> int:
    """The same, each written once."""
    return _send_all(work, make_producer(work, **{"enable.idempotence": True}), work.ids)


def compressed(work: Work) -> int:
    """The same with each compression, by a producer of its own."""
    for codec, ids in work.coded:
        _send_all(work, make_producer(work, **{"compression.type": codec}), ids)
    return 0


def _send_all(work: Work, producer: Any, ids: list[str]) -> int:
    failed = list[Any]()
    for record in ids:
        send(work, producer, record, failed, None)
        time.sleep(work.pause)
    left = producer.flush(work.patience)
    if failed:
        raise KafkaException(failed[0])
    if left:
        raise GaveUpError(f"{left} records are neither acknowledged nor failed")
    return 0


def transact(work: Work) -> int:
    """Send records in transactions, each third aborted; one that can be is tried again."""
    producer = make_producer(work, **{"transactional.id": work.group})
    again(work, lambda: producer.init_transactions(work.patience))
    for number, batch in enumerate(work.batches):
        for attempt in range(work.attempts):
            name = f"{number}.{attempt}"
            producer.begin_transaction()
            try:
                failed = list[Any]()
                for record in batch:
                    send(work, producer, record, failed, name)
                producer.flush(work.patience)
                if work.aborts(number):
                    again(work, lambda: producer.abort_transaction(work.patience))
                    work.ended(name, "aborted")
                else:
                    again(work, lambda: producer.commit_transaction(work.patience))
                    work.ended(name, "committed")
                break
            except KafkaException as problem:
                if not to_abort(problem):
                    raise
                again(work, lambda: producer.abort_transaction(work.patience))
                work.ended(name, "aborted")
        else:
            raise GaveUpError(f"transaction {number} was aborted {work.attempts} times")
    return 0


def to_abort(problem: KafkaException) -> bool:
    """Whether a transaction has failed and can be aborted; a record is refused then with _STATE."""
    error = problem.args[0]
    return bool(error.txn_requires_abort() or error.code() == KafkaError._STATE)


def again(work: Work, do: Any) -> None:
    """Until it succeeds, or fails with what its documents call no use to repeat."""
    until = work.until
    while True:
        try:
            do()
            return
        except KafkaException as problem:
            if not problem.args[0].retriable() or time.monotonic() > until:
                raise
