"""A program to explore: it copies five records of a topic to another one with confluent-kafka.

    copied.py HOW SOURCE OUTPUT     with BARNABAS_BOOTSTRAP, BARNABAS_HISTORY and BARNABAS_RUN

If the source's name ends with the token of the run, the program fills it first.

HOW: `careful` (writes, then commits, and goes on if the commit is refused), `drops` (commits, then writes; a
record whose commit is refused is logged and dropped), `drops silently` (the same, without a history).
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition

RECORDS = 5


def main() -> None:
    how, source, output = sys.argv[1:]
    run, bootstrap = os.environ["BARNABAS_RUN"], os.environ["BARNABAS_BOOTSTRAP"]
    path = os.devnull if how == "drops silently" else os.environ["BARNABAS_HISTORY"]
    history = Path(path).open("a", buffering=1)  # noqa: SIM115 - as long as we run
    common = {"bootstrap.servers": bootstrap, "reconnect.backoff.ms": 10, "log_level": 0}
    consumer = Consumer(
        {
            **common,
            "client.id": "reader",
            "group.id": f"copy-{run}",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "heartbeat.interval.ms": 500,
            "session.timeout.ms": 2000,  # the embedded cluster lets a member join again a second before
        }
    )
    producer = Producer({**common, "client.id": "writer", "enable.idempotence": True})

    def tell(event: str, **fields: str | int) -> None:
        history.write(json.dumps({"event": event, **fields}) + "\n")

    def write(message: Message) -> None:
        failures = []
        tell("sent", id=message.value().decode(), topic=output)
        report = lambda error, _: failures.append(error) if error else None  # noqa: E731
        producer.produce(output, message.value(), on_delivery=report)
        if producer.flush(20) or failures:
            sys.exit(f"not written: {failures}")

    def commit(message: Message) -> bool:
        try:
            consumer.commit(message, asynchronous=False)
        except KafkaException as refused:
            print("commit refused:", refused)
            return False
        at = {"partition": message.partition(), "offset": message.offset() + 1}
        tell("offset_committed", group=f"copy-{run}", topic=source, **at)
        return True

    if source.endswith(run):
        for number in range(RECORDS):
            producer.produce(source, f"r{number}", partition=0)
        producer.flush(20)
    tell("consumer", consumer="c", group=f"copy-{run}", reset="earliest")

    def assigned(_: Consumer, partitions: list[TopicPartition]) -> None:
        for each in partitions:
            tell("assigned", consumer="c", topic=each.topic, partition=each.partition)

    consumer.subscribe([source], on_assign=assigned)
    last, deadline = -1, time.monotonic() + 20
    while last < RECORDS - 1:
        if time.monotonic() > deadline:
            sys.exit(f"read up to offset {last} only")
        message = consumer.poll(0.1)
        if message is None or message.error():
            continue
        at = {"partition": message.partition(), "offset": message.offset()}
        tell("consumed", consumer="c", id=message.value().decode(), topic=source, **at)
        if how == "careful":
            write(message)
            commit(message)
        elif commit(message):
            write(message)
        last = message.offset()
    consumer.close()


if __name__ == "__main__":
    main()
