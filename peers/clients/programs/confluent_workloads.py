"""Workloads of confluent-kafka, which is librdkafka, of any release since 1.0."""

from __future__ import annotations

import time
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from lines import GaveUpError, Work

QUIET = {"log_level": 0}


def _producer(work: Work, **own: Any) -> Any:
    return Producer(
        {
            "bootstrap.servers": work.bootstrap,
            "client.id": "producer",
            **QUIET,
            **own,
        }
    )


def _send(
    work: Work, producer: Any, record: str, failed: list[Any], transaction: str | None
) -> None:
    def told(error: Any, message: Any) -> None:
        if error is None:
            work.acknowledged(record, message.partition(), message.offset())
        elif error.code() != KafkaError._PURGE_QUEUE:
            failed.append(error)

    work.sent(record, transaction)
    producer.produce(work.topic, value=record, key=record, on_delivery=told)
    producer.poll(0)


def produce(work: Work) -> int:
    """Send records, one after the other."""
    return _send_all(work, _producer(work))


def idempotent(work: Work) -> int:
    """The same, each written once."""
    return _send_all(work, _producer(work, **{"enable.idempotence": True}))


def _send_all(work: Work, producer: Any) -> int:
    failed = list[Any]()
    for record in work.ids:
        _send(work, producer, record, failed, None)
        time.sleep(work.pause)
    left = producer.flush(work.patience)
    if failed:
        raise KafkaException(failed[0])
    if left:
        raise GaveUpError(f"{left} records are neither acknowledged nor failed")
    return 0


def transact(work: Work) -> int:
    """Send records in transactions, each third aborted; one that can be is tried again."""
    producer = _producer(work, **{"transactional.id": work.group})
    _again(work, lambda: producer.init_transactions(work.patience))
    for number, batch in enumerate(work.batches):
        for attempt in range(work.attempts):
            name = f"{number}.{attempt}"
            producer.begin_transaction()
            try:
                failed = list[Any]()
                for record in batch:
                    _send(work, producer, record, failed, name)
                producer.flush(work.patience)
                if work.aborts(number):
                    _again(work, lambda: producer.abort_transaction(work.patience))
                    work.ended(name, "aborted")
                else:
                    _again(work, lambda: producer.commit_transaction(work.patience))
                    work.ended(name, "committed")
                break
            except KafkaException as problem:
                if not problem.args[0].txn_requires_abort():
                    raise
                _again(work, lambda: producer.abort_transaction(work.patience))
                work.ended(name, "aborted")
        else:
            raise GaveUpError(f"transaction {number} was aborted {work.attempts} times")
    return 0


def _again(work: Work, do: Any) -> None:
    """Until it succeeds, or fails with what its documents call no use to repeat."""
    until = work.until
    while True:
        try:
            do()
            return
        except KafkaException as problem:
            if not problem.args[0].retriable() or time.monotonic() > until:
                raise


def group(work: Work) -> int:
    """Read all records in a group, committing what was read."""
    consumer = Consumer(
        {
            "bootstrap.servers": work.bootstrap,
            "client.id": "reader",
            "group.id": work.group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            **QUIET,
        }
    )
    work.consumer()
    missing, until = set(work.ids), work.until
    try:
        consumer.subscribe([work.topic], on_assign=lambda _, places: work.assigned(places))
        while missing or work.stays:
            if time.monotonic() > until:
                raise GaveUpError(f"{len(missing)} records were not delivered")
            found = [one for one in consumer.consume(work.at_once, timeout=0.1) if not one.error()]
            for one in found:
                work.consumed(one.topic(), one.partition(), one.offset(), one.value())
                missing.discard(one.value().decode())
            if found:
                _commit(work, consumer)
    finally:
        consumer.close()
    return len(work.ids)


def _commit(work: Work, consumer: Any) -> None:
    try:
        committed = consumer.commit(asynchronous=False)
    except KafkaException:  # it was not committed: it may come again
        return
    for place in committed:
        if place.error is None and place.offset >= 0:
            work.committed(place.topic, place.partition, place.offset)
