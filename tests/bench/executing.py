"""How many cases a second a target takes: the embedded cluster, Kafka 3.9.1, our own decoder.

Cases are made before the clock starts. Those that end or park their connection cost a new one, so they are
counted apart: `surviving` cases are those of which two first runs showed that they are answered (who joins a
group is answered once, and parked when it comes again).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Final

from rich.table import Table

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.corpus.corpus import generated
from barnabas.fuzz.engine.making import Maker
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.targets.registry import target_of
from barnabas.fuzz.targets.target import Target
from barnabas.specs.registry import key_of
from tests.bench.table import plain_table

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
"""What embedded and real brokers both have. Not Produce: the mock brokers end on some of its record sets, and
how fast they start would be measured."""

COUNT: Final = 2000
"""Cases of a round."""

GOAL: Final = 5000.0
"""Surviving cases a second, against the embedded cluster."""

TARGETS: Final = ("embedded", "apache:3.9.1", "decoder:specs")


@dataclass(slots=True)
class Executed:
    """One target with one kind of cases, and its rates: cases a second of wall time, one a round."""

    target: str
    kind: str
    rates: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """The median; not a number if there is none."""
        return median(self.rates) if self.rates else math.nan


def measure(rounds: int, progress: Callable[[str], None]) -> tuple[list[Executed], str]:
    """All targets in turn; and a remark on those that could not run."""
    maker = Maker("bench", generated("bench", APIS, "request", each=2))
    cases = [maker.case(number) for number in range(COUNT)]
    found: list[Executed] = []
    remarks = []
    for name in TARGETS:
        progress(f"fuzz: {name}")
        try:
            with ExitStack() as stack:
                target = stack.enter_context(target_of(name, own=False))
                found += _of(target, cases, rounds)
        except CannotRun as problem:
            remarks.append(f"{name}: {problem}")
    return found, "; ".join(remarks)


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


def _slow(first: Sequence[Any]) -> set[int]:
    """Numbers of cases that were waited for."""
    return {one.case.number for one in first if dict(one.facts).get("waited_ms")}


def table(rows: Sequence[Executed], remark: str) -> Table:
    """The rates, and whether the goal is met."""
    shown = plain_table("fuzz: cases executed", remark, ("target, cases", "cases/s", "goal"))
    for row in rows:
        goal = f"{GOAL:,.0f}" if (row.target, row.kind) == ("embedded cluster", "surviving") else ""
        shown.add_row(f"{row.target}, {row.kind}", f"{row.rate:,.0f}", goal)
    return shown


def as_json(rows: Sequence[Executed]) -> dict[str, Any]:
    """The medians, for a file."""
    return {f"{row.target}, {row.kind}": row.rate for row in rows}
