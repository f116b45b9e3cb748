"""Runs combined: the complete runs, the order of the two messages, and totals."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable
from typing import Any

from barnabas.designs.rebalances.arms import ARMS, MARK
from barnabas.designs.results.columns import Column
from barnabas.designs.results.plots import dots
from barnabas.designs.results.runs import figures, group

Figures = dict[str, Any]
"""The figures of a run, see `figures.py`."""


def complete(run: Figures) -> bool:
    """Check that a run came to its rebalance, and that everything was read."""
    stuck = any("TimeoutError" in death for death in run["died"])
    return run["stall_ms"] is not None and not run["never"] and not stuck


def puts_back(run: Figures) -> bool:
    """Check whether the marked commit, or its repetition, follows a greater offset in the log."""
    greatest: dict[str, int] = {}
    for offset in filter(None, run["kept"].split(", ")):
        partition_offset, mark = offset.split(" ", 1)
        partition, _, at = partition_offset.partition("@")
        before, greatest[partition] = greatest.get(partition, -1), int(at)
        if mark in (MARK, "again") and int(at) < before:
            return True
    return False


def overtaken(run: Figures) -> str:
    """Write whether the commit was overtaken: yes, no, or no join after the commit."""
    return "yes" if run["overtaken"] else "no" if run["exit"] or run["broker"] else "no join"


def spread_of(name: str) -> Column:
    """Return a column with the median of a figure, and the least and the most."""
    return lambda runs: spread(figures(runs, name)) if figures(runs, name) else "never"


def twice_plots(runs: Iterable[Figures], title: str, *arm: str) -> dict[str, str]:
    """Plot `twice` by arm (the values of these names) for each version and protocol."""
    return {
        f"twice-{version}-{protocol}": dots(
            f"{title}: Kafka {version}, {protocol}",
            "records",
            {
                ", ".join(words): figures(each, "twice")
                for words, each in group(group_runs, *arm).items()
            },
        )
        for (version, protocol), group_runs in group(runs, "version", "protocol").items()
    }


def rows(runs: Iterable[Figures]) -> list[tuple[str, str, list[Figures]]]:
    """Return the complete runs by arm, and by whether the commit was overtaken."""
    complete_runs = [run for run in runs if complete(run)]
    return [
        (arm.name, order, arm_runs)
        for arm in ARMS
        for order in ("yes", "no", "no join")
        if (arm_runs := [o for o in complete_runs if (o["arm"], overtaken(o)) == (arm.name, order)])
    ]


def counted(values: Iterable[str]) -> str:
    """Write how often each value occurs, the most frequent first.

    >>> counted(["a", "b", "b"])
    'b 2, a 1'
    """
    return ", ".join(f"{value} {count}" for value, count in Counter(values).most_common())


def spread(values: Iterable[float]) -> str:
    """Write the median, and the least and the most if they differ.

    >>> spread([1, 1]), spread([1, 5, 3])
    ('1', '3 (1-5)')
    """
    ordered = sorted(values)
    middle = f"{statistics.median(ordered):g}"
    return middle if ordered[0] == ordered[-1] else f"{middle} ({ordered[0]:g}-{ordered[-1]:g})"
