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
    """What one maker did: cases a second of the processor, a figure a round, and bytes a case."""

    name: str
    what: str
    rates: list[float] = field(default_factory=list)
    size: float = 0.0

    @property
    def rate(self) -> float:
        """The median; not a number if it could not run."""
        return median(self.rates) if self.rates else math.nan


def measure(rounds: int, seconds: float, progress: Callable[[str], None]) -> tuple[list[Made], str]:
    """All makers, each for so long in every round; and a remark on who is missing."""
    made = [Made(name, what) for name, what in _ROWS]
    missing: dict[str, str] = {}
    for number in range(rounds):
        for one in made:
            if one.name in missing:
                continue
            progress(f"fuzz: {one.what}, round {number + 1} of {rounds}")
            command = (sys.executable, "-m", "bench.makers", one.name, str(seconds))
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=_PATIENCE, check=False
            )
            if done.returncode:
                last = (done.stderr.strip().splitlines() or ["it failed"])[-1]
                missing[one.name] = f"{one.what}: not measured ({last}; extra: bench)"
                continue
            cases, used, size = json.loads(done.stdout)
            one.rates.append(cases / used)
            one.size = size / cases
    return made, "; ".join(missing.values())


def table(made: list[Made], remark: str) -> Table:
    """A line for each; in the last column how many times boofuzz's cases a second."""
    caption = (
        f"median of {max(len(one.rates) for one in made)} rounds; boofuzz {version('boofuzz')}"
    )
    columns = ("", "cases/s", "bytes/case", "goal", "times boofuzz")
    caption = f"{caption}. {remark}".strip()
    shown = plain_table("cases made in a second of one core", caption, columns)
    base = next(one.rate for one in made if one.name == _BASE)
    for one in made:
        times = ratio(one.rate, base)
        goal = _GOALS.get(one.name)
        shown.add_row(
            one.what,
            "-" if math.isnan(one.rate) else f"{one.rate:,.0f}",
            f"{one.size:,.0f}",
            "" if goal is None else f"{goal:,}",
            "-" if math.isnan(times) else f"{times:.1f}",
        )
    return shown
