"""The runs of an experiment: select them, group them by arm, and collect a figure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Run = dict[str, Any]
"""The measurements of a run, and its arm."""


def select(runs: Iterable[Run], **conditions: Any) -> list[Run]:
    """Return the runs that have all these values.

    >>> select([{"arm": "a", "seconds": 1}, {"arm": "b", "seconds": 2}], arm="b")
    [{'arm': 'b', 'seconds': 2}]
    """
    return [run for run in runs if all(run[name] == value for name, value in conditions.items())]


def group(runs: Iterable[Run], *names: str) -> dict[tuple[Any, ...], list[Run]]:
    """Return the runs by their values of these names, in the order in which the values occur first."""
    groups: dict[tuple[Any, ...], list[Run]] = {}
    for run in runs:
        groups.setdefault(tuple(run[name] for name in names), []).append(run)
    return groups


def figures(runs: Iterable[Run], name: str) -> list[Any]:
    """Return one figure of each run, without the runs in which it is unknown (None)."""
    return [run[name] for run in runs if run[name] is not None]
