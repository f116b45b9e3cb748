"""How many cases a second clients take as targets, and whose processor time that is.

Those of the newest releases that were got before: nothing is downloaded. What a client asks for is found out
before the clock starts, and cases are made; its processes start while it runs, and what hangs is waited for.
"""

from __future__ import annotations

import math
import os
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from rich.table import Table

from barnabas.cli.clients.names import DEFAULT
from barnabas.fuzz.engine.case_maker import Maker
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.targets.clients.registry import client
from barnabas.location import cache
from bench.table import plain_table

GOALS: Final = {
    "franz-go": 200,
    "sarama": 200,
    "kafka-python": 200,
    "confluent-kafka": 100,
    "java": 100,
}
"""Library -> cases a second on a quiet machine."""

COUNT: Final = 10_000
QUICK: Final = 300
"""Cases of a client: half a campaign. The first thousand are the slowest: the first case of each kind of hang
is run again."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One client: seconds of wall time for so many cases, and of processor time, ours and its processes'."""

    client: str
    cases: int
    seconds: float
    ours: float
    theirs: float

    @property
    def rate(self) -> float:
        """Cases a second."""
        return self.cases / self.seconds

    def bound(self, cores: int) -> float:
        """Cases a second if nobody waited for anything but a core.

        >>> Answered("a", 1000, 9.0, 4.0, 6.0).bound(2)
        200.0
        """
        used = self.ours + self.theirs
        return cores * self.cases / used if used else math.inf


def measure(count: int, progress: Callable[[str], None]) -> tuple[list[Answered], str]:
    """All clients in turn; and a remark on the machine's load, and on those that could not run."""
    results, remarks = [], []
    before = os.getloadavg()[0]
    for name in DEFAULT:
        library, _, version = name.partition("@")
        if library not in GOALS:
            continue
        if not _is_here(library, version):
            remarks.append(f"{name} is not here")
            continue
        progress(f"fuzz: {name}")
        try:
            results.append(_of(name, count))
        except CannotRun as problem:
            remarks.append(f"{name}: {problem}")
    load = f"load {before:.1f} before and {os.getloadavg()[0]:.1f} behind, {os.cpu_count()} cores"
    return results, "; ".join((load, *remarks))


def _is_here(library: str, version: str) -> bool:
    if library == "java":
        folder = cache() / "maven" / "org" / "apache" / "kafka" / "kafka-clients" / version
        return folder.exists()
    return any((cache() / "clients").glob(f"{library}-{version}-*"))


def _of(name: str, count: int) -> Answered:
    target = client(name)
    with target:
        seeds = tuple(target.seeds())
    cases = Maker("bench", seeds).cases(range(count))
    ours, theirs = _used(resource.RUSAGE_SELF), _used(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    with target:
        batches = (cases[at : at + target.at_once] for at in range(0, count, target.at_once))
        done = sum(1 for batch in batches for _ in target.run(batch))
        took = time.perf_counter() - began
    return Answered(
        name,
        done,
        took,
        _used(resource.RUSAGE_SELF) - ours,
        _used(resource.RUSAGE_CHILDREN) - theirs,
    )


def _used(who: int) -> float:
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def table(rows: Sequence[Answered], remark: str) -> Table:
    """Tabulate rates, and which processes used the CPU time."""
    columns = ("client", "cases/s", "goal", "our CPU s/1000", "their CPU s/1000", "CPU allows")
    shown = plain_table("fuzz: cases that clients take", remark, columns)
    for row in rows:
        shown.add_row(
            row.client,
            f"{row.rate:,.0f}",
            f"{GOALS[row.client.partition('@')[0]]:,}",
            f"{row.ours / row.cases * 1e3:.1f}",
            f"{row.theirs / row.cases * 1e3:.1f}",
            f"{row.bound(os.cpu_count() or 1):,.0f}",
        )
    return shown
