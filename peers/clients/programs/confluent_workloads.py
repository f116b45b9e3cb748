"""The workload of confluent-kafka alone: members store offsets themselves, for the library to commit."""

from __future__ import annotations

import threading
import time
from typing import Any

from confluent_client import LIBRARY
from library import Ends
from work import Missing, Reader, Work
from workloads import ends_of, read, tell_committed

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
    with LIBRARY.consumer(work, third, _settings(work)) as consumer:
        until = time.monotonic() + LAST
        while time.monotonic() < until:
            read(consumer, third, missing)
    return work.records


def _settings(work: Work) -> dict[str, Any]:
    return {**SETTINGS, "group.id": work.group}


def _member(work: Work, missing: Missing, name: str, left: threading.Event) -> None:
    """Read and store offsets. left: whether the slow member has left."""
    reader, slow = Reader(work, name), name == "reader-1"
    given, done = Ends(), Ends()

    def begin() -> None:
        given.clear()
        done.clear()

    try:
        with LIBRARY.consumer(work, reader, _settings(work), begin) as consumer:
            while missing.goes_on() or not (slow or left.is_set()):
                new = ends_of(read(consumer, reader, missing))
                if not slow:
                    done.update(new)
                consumer.store(done)
                if not slow:
                    tell_committed(work, consumer.commit(new))
                    continue
                # others work on what was given last of each partition, and are through with all before
                done.update({each: given[each] for each in new if each in given})
                given.update(new)
                time.sleep(SLOWLY if new else 0)
    finally:
        if slow:
            left.set()
