"""The round with confluent-kafka."""

from __future__ import annotations

import time
from typing import Any

from barnabas.experiments.explore.clients.work import PATIENCE, Work, is_aborted
from barnabas.experiments.explore.history import Acknowledged, Failed, OffsetCommitted, Sent


def produce(work: Work) -> set[str]:
    """Send all; the ids of those that are to be read."""
    acknowledged: set[str] = set()
    producer = _producer(work)
    for batch in work.batches():
        for record in batch:
            _send(work, producer, record, None, acknowledged)
    if producer.flush(PATIENCE):
        raise TimeoutError(f"not all records were acknowledged within {PATIENCE:g} s")
    return acknowledged


def transact(work: Work) -> set[str]:
    """Send all in transactions, each again until it is done; the ids of those that are to be read."""
    from confluent_kafka import KafkaException

    committed: set[str] = set()
    producer = _producer(work, **{"transactional.id": work.group})
    _again(lambda: producer.init_transactions(PATIENCE))
    for number, batch in enumerate(work.batches()):
        for attempt in range(5):
            name = f"{number}.{attempt}"
            producer.begin_transaction()
            try:
                for record in batch:
                    _send(work, producer, record, name, set())
                producer.flush(PATIENCE)
                if is_aborted(number):
                    _again(lambda: producer.abort_transaction(PATIENCE))
                    work.ended(name, "aborted")
                else:
                    _again(lambda: producer.commit_transaction(PATIENCE))
                    work.ended(name, "committed")
                    committed.update(batch)
                break
            except KafkaException as problem:
                if not problem.args[0].txn_requires_abort():
                    raise
                _again(lambda: producer.abort_transaction(PATIENCE))
                work.ended(name, "aborted")
        else:
            raise TimeoutError(f"transaction {number} was aborted five times")
    return committed


def _producer(work: Work, **more: Any) -> Any:
    from confluent_kafka import Producer

    return Producer(
        {
            "bootstrap.servers": work.bootstrap,
            "client.id": "producer",
            "enable.idempotence": True,
            "linger.ms": 1,
            "message.timeout.ms": int(PATIENCE * 1000),
            "log_level": 0,
            **more,
            **work.settings,
        }
    )


def _send(
    work: Work, producer: Any, record: str, transaction: str | None, acknowledged: set[str]
) -> None:
    from confluent_kafka import KafkaError

    def told(error: Any, message: Any) -> None:
        topic = message.topic()
        if error is None:
            at = message.offset()
            acknowledged.add(record)
            work.tell(
                Acknowledged(
                    id=record,
                    topic=topic,
                    partition=message.partition(),
                    offset=at if at is not None and at >= 0 else None,  # deduplicated: unknown
                )
            )
        elif error.code() == KafkaError._PURGE_QUEUE:  # of all others the outcome is unknown
            work.tell(Failed(id=record, topic=topic))

    work.tell(Sent(id=record, topic=work.topic, transaction=transaction))
    producer.produce(work.topic, value=record, key=record, on_delivery=told)
    producer.poll(0)


def _again(do: Any) -> None:
    """Until it succeeds, or fails with what is no use to repeat."""
    from confluent_kafka import KafkaException

    end = time.monotonic() + PATIENCE
    while True:
        try:
            do()
            return
        except KafkaException as problem:
            if not problem.args[0].retriable() or time.monotonic() > end:
                raise


def consume(work: Work, wanted: set[str]) -> None:
    """Read in a group until all that is wanted has come, committing what was read."""
    from confluent_kafka import Consumer, KafkaException

    name = "consumer-1"
    work.declare(name)
    consumer = Consumer(
        {
            "bootstrap.servers": work.bootstrap,
            "client.id": "consumer",
            "group.id": work.group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "isolation.level": work.isolation,
            # the mock cluster ends a rebalance 1 s before the session would time out
            "session.timeout.ms": 6000,
            "heartbeat.interval.ms": 300,
            "fetch.wait.max.ms": 100,
            "log_level": 0,
        }
    )
    missing = set(wanted)
    end = time.monotonic() + PATIENCE
    try:
        consumer.subscribe([work.topic], on_assign=lambda _, places: work.assigned(name, places))
        while missing:
            if time.monotonic() > end:
                raise TimeoutError(
                    f"{len(missing)} records were not consumed within {PATIENCE:g} s"
                )
            messages = [one for one in consumer.consume(50, timeout=0.1) if not one.error()]
            for one in messages:
                at = one.topic(), one.partition(), one.offset()
                missing.discard(work.consumed(name, one.value(), *at))
            if messages:
                try:
                    for place in consumer.commit(asynchronous=False):
                        if place.error is None and place.offset >= 0:
                            at = place.topic, place.partition, place.offset
                            work.tell(_committed(work, *at))
                except KafkaException:  # it was not committed: it may come again
                    pass
    finally:
        consumer.close()


def _committed(work: Work, topic: str, partition: int, offset: int) -> OffsetCommitted:
    return OffsetCommitted(group=work.group, topic=topic, partition=partition, offset=offset)


def run(work: Work) -> None:
    """The whole round."""
    consume(work, transact(work) if work.transactions else produce(work))
