"""The workload of confluent-kafka whose members store offsets themselves, for the library to commit."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any

from confluent_kafka import KafkaException, TopicPartition
from confluent_reading import commit, make_consumer, read
from work import Missing, Reader, Work

SETTINGS = {
    "enable.auto.commit": True,
    "enable.auto.offset.store": False,
    "auto.commit.interval.ms": 200,
    "session.timeout.ms": 3000,
    "max.poll.interval.ms": 3000,
    "heartbeat.interval.ms": 500,
}
SLOWLY = 0.15
"""Seconds that the first member works on what it was given."""
LAST = 5.0
"""Seconds in which a member that comes when all have left would be given what they left."""


def stored_offsets(work: Work) -> int:
    """Read all records by a slow member and a quick one, which comes later and leaves later. Whoever comes
    then is given nothing again."""
    missing, left = Missing(work), threading.Event()
    missing.by_two(lambda name: _member(work, missing, name, left))
    third = Reader(work, "reader-3")
    consumer = _subscribed(work, third)
    until = time.monotonic() + LAST
    try:
        while time.monotonic() < until:
            read(work, consumer, third, missing)
    finally:
        consumer.close()
    return work.records


def _member(work: Work, missing: Missing, name: str, left: threading.Event) -> None:
    """left: whether the slow one has."""
    reader, slow = Reader(work, name), name == "reader-1"
    given, done = dict[int, int](), dict[int, int]()

    def begin() -> None:
        given.clear()
        done.clear()

    consumer = _subscribed(work, reader, begin)
    try:
        while missing.goes_on() or not (slow or left.is_set()):
            found = read(work, consumer, reader, missing)
            new = {one.partition(): one.offset() + 1 for one in found}
            if not slow:
                done.update(new)
            for partition, end in done.items():
                _store(consumer, TopicPartition(work.topic, partition, end))
            if not slow:
                commit(work, consumer)
                continue
            # others work on what was given last of each partition, and are through with all before
            done.update({each: given[each] for each in new if each in given})
            given.update(new)
            time.sleep(SLOWLY if found else 0)
    finally:
        consumer.close()
        if slow:
            left.set()


def _subscribed(work: Work, reader: Reader, begin: Callable[[], None] = lambda: None) -> Any:
    """begin: called when it is assigned partitions."""

    def assigned(_: Any, places: Any) -> None:
        reader.assigned(places)
        begin()

    consumer = make_consumer(work, reader, **SETTINGS)
    consumer.subscribe([work.topic], on_assign=assigned)
    return consumer


def _store(consumer: Any, place: Any) -> None:
    with contextlib.suppress(KafkaException):  # it is somebody else's by now
        consumer.store_offsets(offsets=[place])
