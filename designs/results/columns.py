"""A table of runs: a row for each arm, and columns that are functions of an arm's runs."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping

from barnabas.designs.results.intervals import middle, share
from barnabas.designs.results.markdown import table
from barnabas.designs.results.runs import Run, figures, group

Column = Callable[[list[Run]], object]
"""Writes the cell of a table for a group of runs."""


def total(name: str) -> Column:
    """Return a column with the sum of a figure."""
    return lambda runs: sum(figures(runs, name))


def median_and_most(name: str) -> Column:
    """Return a column with the median and the largest value of a figure.

    >>> median_and_most("ms")([{"ms": 1.0}, {"ms": 2.0}, {"ms": 9.0}])
    '2, 9'
    """

    def cell(runs: list[Run]) -> str:
        values = figures(runs, name)
        return f"{statistics.median(values):.0f}, {max(values):.0f}"

    return cell


def middle_of(name: str) -> Column:
    """Return a column with the median of a figure and its bounds; "none" without values."""
    return lambda runs: middle(values) if (values := figures(runs, name)) else "none"


def most(name: str) -> Column:
    """Return a column with the largest value of a figure."""
    return lambda runs: max(figures(runs, name))


def share_of(test: Callable[[Run], object]) -> Column:
    """Return a column with the share of the runs that pass a test, and its interval."""
    return lambda runs: share(sum(bool(test(run)) for run in runs), len(runs))


def of_runs(test: Callable[[Run], object]) -> Column:
    """Return a column with the number of the runs that pass a test, and of all."""
    return lambda runs: f"{sum(bool(test(run)) for run in runs)} of {len(runs)}"


def table_of(runs: Iterable[Run], columns: Mapping[str, str | Column]) -> str:
    """Write a table with a row for each group of runs.

    columns: by title, the name of a value by which runs are grouped, or a function of the runs of a group.

    >>> runs = [{"arm": "a", "ms": 2}, {"arm": "b", "ms": 3}, {"arm": "a", "ms": 5}]
    >>> print(table_of(runs, {"arm": "arm", "runs": len, "ms": total("ms")}))
    | arm | runs | ms |
    |---|---|---|
    | a | 2 | 7 |
    | b | 1 | 3 |
    """
    names = [column for column in columns.values() if isinstance(column, str)]
    rows = (
        [
            group_runs[0][each] if isinstance(each, str) else each(group_runs)
            for each in columns.values()
        ]
        for group_runs in group(runs, *names).values()
    )
    return table(" | ".join(columns), rows)
