"""Cases a second of fuzz targets: librdkafka's mock, Kafka 3.9.1, our own decoder, a campaign on 4.3.1.

The campaign's cases are of all APIs; its time includes building, judging and finding the case that caused a
failure. The other targets get cases that were built before the clock starts. Cases that close or block their
connection cost a new one, so they are counted apart: `surviving` cases were answered in two first runs (a
JoinGroup is answered once, and waits when it is sent again).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Final

from rich.table import Table

from barnabas.fuzz.campaigns.campaign import Budget, Campaign
from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.corpus.corpora import basis
from barnabas.fuzz.corpus.sources import generated
from barnabas.fuzz.engine.assembly import prepare
from barnabas.fuzz.engine.case_maker import Maker
from barnabas.fuzz.engine.rounds import run_range
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.targets.broker import BrokerTarget
from barnabas.fuzz.targets.registry import target_of
from barnabas.fuzz.targets.target import Target
from barnabas.specs.registry import key_of
from bench.table import plain_table

APIS: Final = {
    key_of(name): versions
    for name, versions in (
        ("Metadata", (1, 8)),
        ("Fetch", (4, 11)),
        ("ListOffsets", (1, 5)),
        ("FindCoordinator", (0, 2)),
        ("ApiVersions", (0, 2)),
        ("OffsetFetch", (1, 5)),
    )
}
"""What the mock and real brokers both have. Not Produce: the mock brokers end on some of its record sets, and
how fast they start would be measured."""

COUNT: Final = 2000
"""Cases of a round."""

GOAL: Final = 5000.0
"""Surviving cases a second, against librdkafka's mock."""

CAMPAIGN: Final = Campaign(version=1, target="apache:4.3.1", seed=1, budget=Budget(cases=COUNT))

TARGETS: Final = ("librdkafka", "apache:3.9.1", "decoder:specs")


@dataclass(slots=True)
class Executed:
    """One target with one kind of cases, and its rates: cases a second of wall time, one a round."""

    target: str
    kind: str
    rates: list[float] = field(default_factory=list)
    hunts: int | None = None
    restarts: int | None = None

    @property
    def rate(self) -> float:
        """The median; not a number if there is none."""
        return median(self.rates) if self.rates else math.nan


def measure(rounds: int, progress: Callable[[str], None]) -> tuple[list[Executed], str]:
    """All targets in turn; and a remark on those that could not run."""
    maker = Maker("bench", generated("bench", APIS, "request", each=2))
    cases = [maker.case(number) for number in range(COUNT)]
    results: list[Executed] = []
    remarks = []
    for name in TARGETS:
        progress(f"fuzz: {name}")
        try:
            with ExitStack() as stack:
                target = stack.enter_context(target_of(name, owned=False))
                results += _of(target, cases, rounds)
        except CannotRun as problem:
            remarks.append(f"{name}: {problem}")
    progress(f"fuzz: a campaign against {CAMPAIGN.target}")
    try:
        results.append(_campaign(rounds))
    except CannotRun as problem:
        remarks.append(f"{CAMPAIGN.target}: {problem}")
    return results, "; ".join(remarks)


def _of(target: Target, cases: Sequence[Case], rounds: int) -> list[Executed]:
    first = list(target.run(cases))
    again = list(target.run(cases))
    rows = [Executed(target.name, "as they come")]
    sets: list[Sequence[Case]] = [cases]
    if target.role == "broker":
        well = [one.case for one in first if one.ending == "open" and one.replies and not one.death]
        slow = _slow(first) | _slow(again)
        well = [one for one in well if one.delivery == "whole" and one.number not in slow]
        rows.append(Executed(target.name, "surviving"))
        sets.append((well * (COUNT // max(len(well), 1) + 1))[:COUNT] if well else ())
    for _ in range(rounds):
        for row, some in zip(rows, sets, strict=True):
            if some:
                began = time.perf_counter()
                done = sum(1 for _ in target.run(some))
                row.rates.append(done / (time.perf_counter() - began))
    return rows


def _campaign(rounds: int) -> Executed:
    """Measure rounds of one campaign: each adds cases; the first includes a broker that has just started."""
    with target_of(CAMPAIGN.target, owned=False) as target:
        assert isinstance(target, BrokerTarget)
        made = prepare(CAMPAIGN, basis(target), Path())
        row = Executed(target.name, "a campaign, all APIs, judged")
        for number in range(rounds):
            numbers = range(number * COUNT, (number + 1) * COUNT)
            began = time.perf_counter()
            for _ in run_range(target, made.maker({}), made.oracles, numbers):
                pass
            row.rates.append(COUNT / (time.perf_counter() - began))
        row.hunts, row.restarts = target.hunts, target.restarts
        return row


def _slow(first: Sequence[Any]) -> set[int]:
    """Numbers of cases that were waited for."""
    return {row.case.number for row in first if dict(row.facts).get("waited_ms")}


_COLUMNS: Final = ("target, cases", "cases/s", "goal", "hunts", "restarts")


def table(rows: Sequence[Executed], remark: str) -> Table:
    """Tabulate the rates, and whether the goal is met."""
    shown = plain_table("fuzz: cases executed", remark, _COLUMNS)
    for row in rows:
        goal = (
            f"{GOAL:,.0f}" if (row.target, row.kind) == ("librdkafka's mock", "surviving") else ""
        )
        counts = ("" if count is None else f"{count}" for count in (row.hunts, row.restarts))
        shown.add_row(f"{row.target}, {row.kind}", f"{row.rate:,.0f}", goal, *counts)
    return shown
