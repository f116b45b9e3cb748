"""Endless traffic for `barnabas demo --web`: producers, transactions, and a group with a temporary member.

It runs in a process of its own: python -m barnabas.cli.demo.traffic HOST:PORT
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, Final

STAY: Final = 15.0
"""Seconds for which the second member of the group is present, and then absent."""


def main(bootstrap: str) -> None:
    """Produce and consume until a signal ends the process."""
    common = {"bootstrap.servers": bootstrap, "log_level": 0}
    parts: tuple[Callable[[dict[str, Any]], None], ...] = (
        lambda it: _write(it, "orders", 0.1, {"enable.idempotence": True}),
        lambda it: _write(it, "payments", 0.3, {"batch.num.messages": 2, "linger.ms": 500}),
        lambda it: _read(it, "orders-a", "orders", "orders-service"),
        _come_and_go,
        lambda it: _read(it, "payments-reader", "payments", "accounting"),
        _transactions,
    )
    for part in parts:
        threading.Thread(target=part, args=(common,), daemon=True).start()
    threading.Event().wait()


def _write(common: dict[str, Any], topic: str, pause: float, settings: dict[str, Any]) -> None:
    from confluent_kafka import Producer

    producer = Producer({**common, "client.id": topic, **settings})
    for number in count():
        producer.produce(topic, key=f"key-{number % 16}", value=f"{topic} {number}")
        producer.poll(0)
        time.sleep(pause)


def _read(
    common: dict[str, Any], name: str, topic: str, group: str, until: float = float("inf")
) -> None:
    from confluent_kafka import Consumer

    settings = {
        "client.id": name,
        "group.id": group,
        "auto.offset.reset": "earliest",
        "auto.commit.interval.ms": 2000,
        # the mock cluster ends a rebalance 1 s before the session would time out
        "session.timeout.ms": 2000,
        "heartbeat.interval.ms": 300,
    }
    consumer = Consumer({**common, **settings})
    consumer.subscribe([topic])
    while time.monotonic() < until:
        consumer.poll(0.2)
    consumer.close()


def _come_and_go(common: dict[str, Any]) -> None:
    while True:
        time.sleep(STAY)
        _read(common, "orders-b", "orders", "orders-service", time.monotonic() + STAY)


def _transactions(common: dict[str, Any]) -> None:
    from confluent_kafka import KafkaException, Producer

    producer = Producer({**common, "client.id": "shop", "transactional.id": "shop"})
    producer.init_transactions()
    for number in _every(2.0):
        try:
            producer.begin_transaction()
            for item in range(3):
                producer.produce("clicks", value=f"basket {number}, item {item}")
            if number % 4:
                producer.commit_transaction()
            else:
                producer.flush()
                producer.abort_transaction()
        except KafkaException as problem:
            if problem.args[0].fatal():
                raise
            producer.abort_transaction()


def _every(seconds: float) -> Iterator[int]:
    for number in count(1):
        yield number
        time.sleep(seconds)


if __name__ == "__main__":
    main(sys.argv[1])
