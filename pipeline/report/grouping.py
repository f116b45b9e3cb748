"""Groups of rows, and what they have in common."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from barnabas.pipeline.report.parts import Row

Key = TypeVar("Key")


def grouped(rows: Iterable[Row], key: Callable[[Row], Key]) -> dict[Key, list[Row]]:
    """Return rows by a key, in the order in which keys appear.

    >>> grouped([{"n": 1}, {"n": 2}, {"n": 3}], lambda row: row["n"] % 2)
    {1: [{'n': 1}, {'n': 3}], 0: [{'n': 2}]}
    """
    groups: defaultdict[Key, list[Row]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return dict(groups)


def counted(rows: Iterable[Row], key: Callable[[Row], Key]) -> Counter[Key]:
    """Return the sums of the column `count` by a key."""
    counts: Counter[Key] = Counter()
    for row in rows:
        counts[key(row)] += row["count"]
    return counts


def most(counts: Counter[Key], count: int | None = None) -> list[Key]:
    """Return the keys with the highest counts, highest first; equal counts are sorted by name.

    >>> most(Counter({"b": 2, "c": 3, "a": 2}), 2)
    ['c', 'a']
    """
    return sorted(counts, key=lambda key: (-counts[key], str(key)))[:count]


def present(rows: Iterable[Row], column: str) -> list[Any]:
    """Return the values of a column that are not null."""
    return [row[column] for row in rows if row[column] is not None]
