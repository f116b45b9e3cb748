"""How shards scale with cores: a range of cases in one process, and in two at the same time.

Each shard has a target of its own. Against librdkafka's mock that is two processes a shard: on two cores a
second shard has less than a core left.
"""

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

from bench.table import plain_table, ratio

TARGETS: Final = ("decoder:specs", "librdkafka")
SHARDS: Final = (1, 2)
COUNT: Final = 6000
"""Cases of a shard."""
_FIRST: Final = 10_000
_PATIENCE: Final = 300.0


@dataclass(slots=True)
class Scaled:
    """Rates of a number of shards of one kind, a figure per round: cases per second, and per CPU second."""

    target: str
    shards: int
    by_clock: list[float] = field(default_factory=list)
    by_processor: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """The median by the clock; not a number if there is none."""
        return median(self.by_clock) if self.by_clock else math.nan

    @property
    def cost(self) -> float:
        """The median for a second of the shards' processors, targets left out."""
        return median(self.by_processor) if self.by_processor else math.nan


def measure(rounds: int, progress: Callable[[str], None]) -> tuple[list[Scaled], str]:
    """All in turn, a round after the other; and a remark on those that could not run."""
    results = [Scaled(target, shards) for target in TARGETS for shards in SHARDS]
    missing: dict[str, str] = {}
    for number in range(rounds):
        for shard in results:
            if shard.target in missing:
                continue
            progress(f"fuzz: {shard.shards} shards, {shard.target}, round {number + 1} of {rounds}")
            try:
                done = _run(shard.target, shard.shards)
            except (subprocess.SubprocessError, ValueError) as problem:
                missing[shard.target] = f"{shard.target}: not measured ({problem})"
                continue
            shard.by_clock.append(sum(cases for cases, _, _ in done) / max(s for _, s, _ in done))
            shard.by_processor.append(sum(n for n, _, _ in done) / sum(used for _, _, used in done))
    return results, "; ".join(missing.values())


def _run(target: str, shards: int) -> list[tuple[int, float, float]]:
    """Cases, seconds and seconds of the processor of each. Raises ValueError if one fails."""
    ranges = [range(_FIRST + i * COUNT, _FIRST + (i + 1) * COUNT) for i in range(shards)]
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "bench.shard", target, str(each.start), str(each.stop)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for each in ranges
    ]  # fmt: skip
    try:
        for shard in running:
            assert shard.stdout is not None
            shard.stdout.readline()  # ready
        for shard in running:
            assert shard.stdin is not None
            if shard.poll() is None:
                shard.stdin.write("\n")
                shard.stdin.flush()
        results = []
        for shard in running:
            output, problem = shard.communicate(timeout=_PATIENCE)
            if shard.returncode:
                raise ValueError((problem.strip().splitlines() or ["it failed"])[-1])
            results.append(tuple(json.loads(output)))
        return results
    finally:
        for shard in running:
            shard.kill()
            shard.wait()


def table(rows: list[Scaled], remark: str) -> Table:
    """Tabulate the rates, and their ratio to one shard's."""
    columns = ("target, shards", "cases/s", "times one shard", "cases/s of a core")
    shown = plain_table("fuzz: shards, cases made, run and judged", remark, columns)
    for row in rows:
        base = next(shard.rate for shard in rows if shard.target == row.target)
        shown.add_row(
            f"{row.target}, {row.shards}",
            f"{row.rate:,.0f}",
            f"{ratio(row.rate, base):.2f}",
            f"{row.cost:,.0f}",
        )
    return shown
