"""How fast cases are made, beside boofuzz: a process each, rounds in turn, time of the processor."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from typing import Final

from rich.table import Table

from barnabas.specs.registry import NAMES
from bench.machine import version
from bench.makers import SOME
from bench.table import plain_table, ratio

_ROWS: Final = (
    ("mutated", f"mutated: {', '.join(NAMES[key] for key in SOME)}"),
    ("fresh", "fresh: every API, version and direction"),
    ("mutated_metadata", "mutated: Metadata v1 requests"),
    ("boofuzz_metadata", "boofuzz: Metadata v1 requests"),
)
_GOALS: Final = {"mutated": 60_000, "fresh": 5_000}
_BASE: Final = "boofuzz_metadata"
_PATIENCE: Final = 120.0


@dataclass(slots=True)
class Made:
    """Cases per CPU second of one maker, a figure per round, and bytes per case."""

    name: str
    label: str
    rates: list[float] = field(default_factory=list)
    size: float = 0.0

    @property
    def rate(self) -> float:
        """The median; not a number if it could not run."""
        return median(self.rates) if self.rates else math.nan


def measure(rounds: int, seconds: float, progress: Callable[[str], None]) -> tuple[list[Made], str]:
    """All makers, each for so long in every round; and a remark on who is missing."""
    made = [Made(name, label) for name, label in _ROWS]
    missing: dict[str, str] = {}
    for number in range(rounds):
        for row in made:
            if row.name in missing:
                continue
            progress(f"fuzz: {row.label}, round {number + 1} of {rounds}")
            command = (sys.executable, "-m", "bench.makers", row.name, str(seconds))
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=_PATIENCE, check=False
            )
            if done.returncode:
                last = (done.stderr.strip().splitlines() or ["it failed"])[-1]
                missing[row.name] = f"{row.label}: not measured ({last}; extra: bench)"
                continue
            cases, used, size = json.loads(done.stdout)
            row.rates.append(cases / used)
            row.size = size / cases
    return made, "; ".join(missing.values())


def table(made: list[Made], remark: str) -> Table:
    """Tabulate each maker; the last column is the ratio to boofuzz's cases per second."""
    caption = (
        f"median of {max(len(row.rates) for row in made)} rounds; boofuzz {version('boofuzz')}"
    )
    columns = ("", "cases/s", "bytes/case", "goal", "times boofuzz")
    caption = f"{caption}. {remark}".strip()
    shown = plain_table("cases made in a second of one core", caption, columns)
    base = next(row.rate for row in made if row.name == _BASE)
    for row in made:
        times = ratio(row.rate, base)
        goal = _GOALS.get(row.name)
        shown.add_row(
            row.label,
            "-" if math.isnan(row.rate) else f"{row.rate:,.0f}",
            f"{row.size:,.0f}",
            "" if goal is None else f"{goal:,}",
            "-" if math.isnan(times) else f"{times:.1f}",
        )
    return shown
