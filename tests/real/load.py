"""Clients under way while brokers fail: what was sent, what was acknowledged and when, what came."""

from __future__ import annotations

import socket
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from operator import itemgetter
from typing import Any, Final, Self

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    Message,
    Producer,
    TopicPartition,
)

from tests.proxy.frames import request

Record = tuple[int, int]
"""Its partition and its number in that, from 0."""

REQUEST_TIMEOUT: Final = 5.0
"""Seconds after which the clients give a request up, and with it the connection."""

BACKOFF: Final = 1.0
"""Seconds that they wait at most before they connect again."""

COMMON: Final[dict[str, Any]] = {
    "api.version.request.timeout.ms": int(REQUEST_TIMEOUT * 1000),
    "socket.timeout.ms": int(REQUEST_TIMEOUT * 1000),
    "reconnect.backoff.max.ms": int(BACKOFF * 1000),
    "log_level": 0,
}

PACE: Final = 0.01
"""Seconds between two records."""


class Sender:
    """An idempotent producer that sends numbered records at a steady pace, in a thread."""

    def __init__(self, bootstrap: str, topic: str, partitions: int, **settings: Any) -> None:
        self.sent: list[Record] = []
        self.acknowledged: dict[Record, float] = {}
        """When, in seconds."""
        self.failed: list[str] = []
        self._progress = [0] * partitions
        self._topic, self._partitions = topic, partitions
        self._stop = threading.Event()
        self._producer = Producer(
            {
                **COMMON,
                "bootstrap.servers": bootstrap,
                "enable.idempotence": True,
                "acks": "all",
                "linger.ms": 5,
                "message.timeout.ms": 60_000,
                **settings,
            }
        )
        self._thread = threading.Thread(target=self._work, name=f"sender {topic}")

    def _work(self) -> None:
        number = 0
        while not self._stop.wait(PACE):
            record = number % self._partitions, number // self._partitions
            value = b"%d" % record[1]
            self.sent.append(record)
            self._producer.produce(self._topic, value, partition=record[0], callback=self._told)
            self._producer.poll(0)
            number += 1
        self.failed += ["never acknowledged"] * self._producer.flush(60)

    def _told(self, error: KafkaError | None, message: Message) -> None:
        value = message.value()
        assert value is not None
        record = message.partition() or 0, int(value)
        if error is None:
            self.acknowledged[record] = time.monotonic()
            self._progress[record[0]] += 1
        else:
            self.failed.append(str(error))

    def progress(self, partition: int) -> int:
        """How many records of a partition are acknowledged."""
        return self._progress[partition]

    def longest_gap(self, begin: float, end: float) -> float:
        """The most seconds between two acknowledgements of one partition in that time."""
        times = defaultdict(list)
        for (partition, _), at in self.acknowledged.copy().items():  # the sender goes on
            times[partition].append(at)
        pairs = (pair for each in times.values() for pair in pairwise(sorted(each)))
        return max((b - a for a, b in pairs if b > begin and a < end), default=0.0)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        del self._producer  # it has no close, and keeps its connections as long as it lives


class Group:
    """A consumer in a group that reads all the time, in a thread."""

    def __init__(self, bootstrap: str, topic: str, **settings: Any) -> None:
        self.received: set[Record] = set()
        self._stop = threading.Event()
        self._consumer = Consumer(
            {
                **COMMON,
                "bootstrap.servers": bootstrap,
                "group.id": topic,
                "auto.offset.reset": "earliest",
                "session.timeout.ms": 6000,
                "heartbeat.interval.ms": 1000,
                **settings,
            }
        )
        self._consumer.subscribe([topic])
        self._thread = threading.Thread(target=self._work, name=f"group {topic}")

    def _work(self) -> None:
        while not self._stop.is_set():
            for message in self._consumer.consume(100, timeout=0.1):
                if message.error() is None:
                    self.received.add(_record(message))
        self._consumer.close()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


@contextmanager
def asking(address: tuple[str, int], **body: Any) -> Iterator[list[int]]:
    """A client that asks for ApiVersions without a pause, in a thread; the numbers that were answered."""
    over = threading.Event()
    answered: list[int] = []

    def ask() -> None:
        with (
            socket.create_connection(address, REQUEST_TIMEOUT) as client,
            client.makefile("rb") as found,
        ):
            while not over.is_set():
                client.sendall(request("ApiVersions", len(answered), version=3, **body))
                answered.append(int.from_bytes(found.read(int.from_bytes(found.read(4)))[:4]))

    asker = threading.Thread(target=ask)
    asker.start()
    try:
        yield answered
    finally:
        over.set()
        asker.join()
    assert answered == [*range(len(answered))]


def read_log(bootstrap: str, topic: str, partitions: int, seconds: float = 30.0) -> list[Record]:
    """All that is in a topic, in the order of its partitions. Raises TimeoutError."""
    consumer = Consumer({**COMMON, "bootstrap.servers": bootstrap, "group.id": "log"})
    until = time.monotonic() + seconds
    found: list[Record] = []
    try:
        ends = {}
        for number in range(partitions):
            _, high = consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=seconds)
            ends[number] = high
        consumer.assign([TopicPartition(topic, n, OFFSET_BEGINNING) for n in ends])
        while any(ends.values()):
            if time.monotonic() > until:
                raise TimeoutError(f"{topic} could not be read to its end: {ends}")
            for message in consumer.consume(1000, timeout=0.2):
                if message.error() is None:
                    found.append(_record(message))
                    if (message.offset() or 0) + 1 >= ends[message.partition() or 0]:
                        ends[message.partition() or 0] = 0
    finally:
        consumer.close()
    return found


@contextmanager
def working(
    proxy: str, cluster: str, topics: Sequence[str], partitions: int
) -> Iterator[list[Sender]]:
    """Senders and groups through a proxy; in the end the log has all that was sent, in order."""
    with ExitStack() as load:
        senders = [load.enter_context(Sender(proxy, topic, partitions)) for topic in topics]
        groups = [load.enter_context(Group(proxy, topic)) for topic in topics]
        yield senders
    assert all(group.received for group in groups)
    for topic, sender in zip(topics, senders, strict=True):
        assert not sender.failed
        records = read_log(cluster, topic, partitions)
        assert set(records) == set(sender.acknowledged) == set(sender.sent)
        assert sorted(records, key=itemgetter(0)) == sorted(records)  # numbers never fall


def _record(message: Message) -> Record:
    value = message.value()
    assert value is not None
    return message.partition() or 0, int(value)
