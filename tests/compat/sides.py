"""A client's workload on one side, and what is to be the same on the other."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any, Final

from barnabas.experiments.clients.runs import RunResult
from barnabas.experiments.clients.runs import Watch as Watched
from barnabas.experiments.clients.trial import Attempt, attempt
from barnabas.experiments.clients.trial_setup import TrialSetup
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


def side(
    program: Program,
    workload: Workload,
    place: TrialSetup,
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
            how = Watched(deadline, stop, watch.follow)
            found = attempt(program, workload, place, bootstrap, work, how)
            problem = _problem(found, place, deadline)
        except (OSError, LogError, HistoryError) as why:
            return Side(problem=" ".join(str(why).split()))
    seen = frozenset(watch.addresses)
    return (
        Side(problem=problem, addresses=seen) if problem else Side(said(found.reported), None, seen)
    )


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


def _problem(found: Attempt, place: TrialSetup, deadline: float) -> str | None:
    """What is wrong on this side, whatever the other one says."""
    if bad := _ending(found.ended, place, deadline):
        return bad
    return "; ".join(f"{one.kind}: {one.text}" for one in found.findings) or None


def _ending(ended: RunResult, place: TrialSetup, deadline: float) -> str:
    if ended.raised:
        return " ".join(ended.raised.split())[:300]
    if ended.code is None:
        return f"timed out after {deadline:g} s"
    if ended.code == 0:
        return ""
    last = ((place.folder / "output.txt").read_text().strip().splitlines() or ["nothing"])[-1]
    return f"its program ended with {ended.code}, saying: {last}"
