"""Runs combined: which ones count, the order of the two messages, and totals."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable
from typing import Any

from barnabas.designs.rebalances.arms import ARMS, MARK

Figures = dict[str, Any]
"""What `judging` makes of a run."""


def complete(one: Figures) -> bool:
    """Whether a run came to its rebalance, and everything was read."""
    stuck = any("TimeoutError" in death for death in one["died"])
    return one["stall_ms"] is not None and not one["never"] and not stuck


def puts_back(one: Figures) -> bool:
    """Whether the marked commit, or its repetition, is in the log behind a greater offset.

    >>> puts_back({"kept": "0@30 revoked, 1@20 async-17, 0@20 async-17"}), puts_back({"kept": ""})
    (True, False)
    """
    greatest: dict[str, int] = {}
    for offset in filter(None, one["kept"].split(", ")):
        place, mark = offset.split(" ", 1)
        partition, _, at = place.partition("@")
        before, greatest[partition] = greatest.get(partition, -1), int(at)
        if mark in (MARK, "again") and int(at) < before:
            return True
    return False


def overtaken(one: Figures) -> str:
    """In which order the two arrived: yes, no, or that none was sent behind the commit."""
    return "yes" if one["overtaken"] else "no" if one["exit"] or one["broker"] else "no join"


def rows(runs: Iterable[Figures]) -> list[tuple[str, str, list[Figures]]]:
    """Runs that are complete, by arm and by whether the overtaking happened."""
    found = [one for one in runs if complete(one)]
    return [
        (arm.name, order, own)
        for arm in ARMS
        for order in ("yes", "no", "no join")
        if (own := [o for o in found if (o["arm"], overtaken(o)) == (arm.name, order)])
    ]


def counted(values: Iterable[str]) -> str:
    """Different values and how often each was there.

    >>> counted(["a", "b", "b"])
    'b 2, a 1'
    """
    return ", ".join(f"{value} {count}" for value, count in Counter(values).most_common())


def spread(values: Iterable[float]) -> str:
    """The median, and the least and the most if they differ.

    >>> spread([1, 1]), spread([1, 5, 3])
    ('1', '3 (1-5)')
    """
    found = sorted(values)
    middle = f"{statistics.median(found):g}"
    return middle if found[0] == found[-1] else f"{middle} ({found[0]:g}-{found[-1]:g})"
