"""The workload of confluent-kafka alone: members store offsets themselves, for the library to commit."""

from __future__ import annotations

import threading
import time
from typing import Any

from confluent_client import LIBRARY
from library import Offsets
from work import Member, PendingRecords, Reader, Work
from workloads import end_offsets, read, report_committed

SETTINGS = {
    "enable.auto.commit": True,
    "enable.auto.offset.store": False,
    "auto.commit.interval.ms": 200,
    "session.timeout.ms": 3000,
    "max.poll.interval.ms": 3000,
    "heartbeat.interval.ms": 500,
}
SLOWLY = 0.15
"""Seconds of the slow member's work on its records."""
LAST = 5.0
"""Seconds in which the third member would receive uncommitted records."""


def stored_offsets(work: Work) -> int:
    """Read all records by a slow member and by a quick one, which joins and leaves later.

    A third member that joins after both must receive no record again.
    """
    pending, departed = PendingRecords(work), threading.Event()
    members = [Member("reader-1"), Member("reader-2", after=1)]
    pending.run_members(members, lambda member: _read(work, pending, member.name, departed))
    third = Reader(work, "reader-3")
    with LIBRARY.consumer(work, third, _settings(work), None) as consumer:
        until = time.monotonic() + LAST
        while time.monotonic() < until:
            read(consumer, third, pending)
    return work.records


def _settings(work: Work) -> dict[str, Any]:
    return {**SETTINGS, "group.id": work.group}


def _read(work: Work, pending: PendingRecords, name: str, departed: threading.Event) -> None:
    """Read and store offsets. departed: whether the slow member has left."""
    reader, slow = Reader(work, name), name == "reader-1"
    given, done = Offsets(), Offsets()

    def begin() -> None:
        given.clear()
        done.clear()

    try:
        with LIBRARY.consumer(work, reader, _settings(work), None, begin) as consumer:
            while pending.unfinished() or not (slow or departed.is_set()):
                new = end_offsets(read(consumer, reader, pending))
                if not slow:
                    done.update(new)
                consumer.store(done)
                if not slow:
                    report_committed(work, consumer.commit(new))
                    continue
                # the slow member works on the last record of each partition, and has finished all before
                done.update({each: given[each] for each in new if each in given})
                given.update(new)
                time.sleep(SLOWLY if new else 0)
    finally:
        if slow:
            departed.set()
