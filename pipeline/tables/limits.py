"""Limits for unreadable data: `quality.gaps=0`. The command line reads them before it imports Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

LIMITED: Final = ("errors", "skipped", "unframed", "gaps", "missing", "undecodable", "unmatched")
"""Columns of the table `quality` that count unreadable data."""


class Limit(NamedTuple):
    """The highest allowed sum of a column of LIMITED over all captures of a folder."""

    column: str
    most: int


def limit(text: str) -> Limit:
    """Parse a limit: `quality.COLUMN=MOST`. Raises ValueError.

    >>> limit("quality.gaps=0")
    Limit(column='gaps', most=0)
    """
    name, _, most = text.partition("=")
    column = name.removeprefix("quality.")
    if not name.startswith("quality.") or column not in LIMITED:
        raise ValueError(
            f"unknown {name!r}: choose from {', '.join(f'quality.{each}' for each in LIMITED)}"
        )
    if not (most.isascii() and most.isdigit()):
        raise ValueError(f"{most!r} is not a number for {name}: 0, 1 ...")
    return Limit(column, int(most))


def exceeded(rows: Iterable[Mapping[str, Any]], limits: Iterable[Limit]) -> list[str]:
    """Return a line for each limit that is exceeded.

    >>> exceeded([{"gaps": 2}, {"gaps": 1}], [Limit("gaps", 2)])
    ['quality.gaps is 3, more than 2']
    """
    quality_rows = list(rows)
    totals = [(each, sum(row[each.column] for row in quality_rows)) for each in limits]
    return [
        f"quality.{each.column} is {total}, more than {each.most}"
        for each, total in totals
        if total > each.most
    ]
