"""A client's workload on one side, and what is to be the same on the other."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from typing import Any, Final

from confluent_kafka import Consumer, KafkaException, TopicPartition

from barnabas.experiments.clients.running import Ended
from barnabas.experiments.clients.trial import Attempt, Place, attempt
from barnabas.experiments.clients.workloads import Workload
from barnabas.experiments.explore.history import (
    Acknowledged,
    Assigned,
    History,
    HistoryError,
    OffsetCommitted,
)
from barnabas.experiments.explore.read_log import LogError
from barnabas.peers.clients.client import Program
from tests.compat.cells import Side
from tests.compat.connections import Watch

DEADLINE: Final = 60.0
"""Seconds for a workload."""

SOON: Final = 10.0
"""Seconds in which a group's coordinator hears that a transaction with its offsets was committed."""


def side(
    program: Program,
    workload: Workload,
    place: Place,
    bootstrap: str,
    work: Mapping[str, Any],
    stop: threading.Event,
    deadline: float = DEADLINE,
) -> Side:
    """What it came to. place: the brokers themselves; bootstrap: where the client finds them. stop: ends it.
    Raises Stopped."""
    place.folder.mkdir(parents=True)
    with Watch() as watch:
        try:
            found = attempt(program, workload, place, bootstrap, work, deadline, stop, watch.follow)
            problem = _problem(found, place, deadline)
        except (OSError, LogError, HistoryError, KafkaException) as why:
            return Side(problem=" ".join(str(why).split()))
    seen = frozenset(watch.addresses)
    return Side(problem=problem, addresses=seen) if problem else Side(said(found.told), None, seen)


def said(told: History) -> dict[str, Any]:
    """What a history says that does not hang on the topic's name, on which records go to which partition, or
    on time: numbers of records, and how many partitions and members there were."""

    def numbers(found: Iterable[str]) -> list[int]:
        return sorted({int(one.rpartition("-")[2]) for one in found})

    events = told.events
    committed = {(one.topic, one.partition) for one in events if isinstance(one, OffsetCommitted)}
    return {
        "acknowledged": numbers(one.id for one in events if isinstance(one, Acknowledged)),
        "written": numbers(record for _, record in told.promised),
        "aborted": numbers(record for _, record in told.undone),
        "consumed": numbers(one.id for one in told.consumed),
        "members": sorted({one.consumer for one in events if isinstance(one, Assigned)}),
        "assigned": sorted({one.partition for one in events if isinstance(one, Assigned)}),
        "partitions with a committed offset": len(committed),
    }


def _problem(found: Attempt, place: Place, deadline: float) -> str | None:
    """What is wrong on this side, whatever the other one says."""
    if bad := _ending(found.ended, place, deadline):
        return bad
    findings = [f"{one.kind}: {one.text}" for one in found.findings]
    return "; ".join(findings + uncommitted(place, found.told)) or None


def _ending(ended: Ended, place: Place, deadline: float) -> str:
    if ended.raised:
        return " ".join(ended.raised.split())[:300]
    if ended.code is None:
        return f"timed out after {deadline:g} s"
    if ended.code == 0:
        return ""
    last = ((place.folder / "output.txt").read_text().strip().splitlines() or ["nothing"])[-1]
    return f"its program ended with {ended.code}, saying: {last}"


def uncommitted(place: Place, told: History) -> list[str]:
    """Offsets that a client knows to be committed, and brokers do not. Raises KafkaException."""
    known: dict[str, dict[tuple[str, int], int]] = {}
    for one in told.events:
        if isinstance(one, OffsetCommitted):
            offsets = known.setdefault(one.group, {})
            at = one.topic, one.partition
            offsets[at] = max(one.offset, offsets.get(at, 0))
    return [
        f"{group}: offset {wanted} of {topic}[{partition}] was committed, brokers have {has}"
        for group, offsets in known.items()
        for (topic, partition), wanted, has in _behind(place, group, offsets)
    ]


def _behind(
    place: Place, group: str, offsets: Mapping[tuple[str, int], int]
) -> list[tuple[tuple[str, int], int, int]]:
    own = {"bootstrap.servers": place.bootstrap, "group.id": group, "log_level": 0}
    consumer = Consumer({**own, "client.id": "compat", **place.settings})
    until = time.monotonic() + SOON
    try:
        while True:
            told = consumer.committed([TopicPartition(*at) for at in offsets], SOON)
            has = {(one.topic, one.partition): one.offset for one in told}
            behind = [(at, end, has[at]) for at, end in offsets.items() if has[at] < end]
            if not behind or time.monotonic() > until:
                return behind
            time.sleep(0.1)
    finally:
        consumer.close()
