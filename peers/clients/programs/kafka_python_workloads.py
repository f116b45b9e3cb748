"""Workloads of kafka-python, of any release since 2.0."""

from __future__ import annotations

import logging
import time
from typing import Any

from kafka import KafkaConsumer, KafkaProducer
from kafka.consumer.subscription_state import ConsumerRebalanceListener
from kafka.errors import KafkaError
from lines import GaveUpError, Work

logging.getLogger("kafka").setLevel(logging.CRITICAL)


def _producer(work: Work, **own: Any) -> Any:
    settings = {"bootstrap_servers": work.bootstrap, "client_id": "producer"}
    return KafkaProducer(**{**settings, **own})


def _send(work: Work, producer: Any, record: str, transaction: str | None) -> Any:
    work.sent(record, transaction)
    return producer.send(work.topic, record.encode(), key=record.encode())


def _acknowledged(work: Work, record: str, future: Any) -> None:
    until = work.until
    while not future.is_done:
        if time.monotonic() > until:
            raise GaveUpError(f"{record} is neither acknowledged nor failed")
        time.sleep(0.01)
    told = future.get(0)
    work.acknowledged(record, told.partition, told.offset)


def produce(work: Work) -> int:
    """Send records, one after the other."""
    return _send_all(work, _producer(work))


def idempotent(work: Work) -> int:
    """The same, each written once."""
    return _send_all(work, _producer(work, enable_idempotence=True))


def _send_all(work: Work, producer: Any) -> int:
    waiting = []
    for record in work.ids:
        waiting.append((record, _send(work, producer, record, None)))
        time.sleep(work.pause)
    try:
        for record, future in waiting:
            _acknowledged(work, record, future)
    finally:
        producer.close(timeout=1)
    return 0


def transact(work: Work) -> int:
    """Send records in transactions, each third aborted."""
    producer = _producer(work, transactional_id=work.group)
    try:
        producer.init_transactions()
        for number, batch in enumerate(work.batches):
            name = str(number)
            producer.begin_transaction()
            waiting = [(record, _send(work, producer, record, name)) for record in batch]
            for record, future in waiting:
                _acknowledged(work, record, future)
            if work.aborts(number):
                producer.abort_transaction()
                work.ended(name, "aborted")
            else:
                producer.commit_transaction()
                work.ended(name, "committed")
    finally:
        producer.close(timeout=1)
    return 0


def group(work: Work) -> int:
    """Read all records in a group, committing what was read."""

    class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
        def on_partitions_revoked(self, revoked: Any) -> None:
            pass

        def on_partitions_assigned(self, assigned: Any) -> None:
            work.assigned(assigned)

    consumer = KafkaConsumer(
        bootstrap_servers=work.bootstrap,
        client_id="reader",
        group_id=work.group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    work.consumer()
    missing, until = set(work.ids), work.until
    try:
        consumer.subscribe([work.topic], listener=Listener())
        while missing or work.stays:
            if time.monotonic() > until:
                raise GaveUpError(f"{len(missing)} records were not delivered")
            found = consumer.poll(timeout_ms=100, max_records=work.at_once)
            ends = {}
            for place, records in found.items():
                for one in records:
                    work.consumed(one.topic, one.partition, one.offset, one.value)
                    missing.discard(one.value.decode())
                    ends[place] = one.offset + 1
            if ends:
                try:
                    consumer.commit()
                except KafkaError:  # it was not committed: it may come again
                    continue
                for place, offset in ends.items():
                    work.committed(place.topic, place.partition, offset)
    finally:
        consumer.close(autocommit=False)
    return len(work.ids)
