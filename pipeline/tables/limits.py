"""Limits of what could not be read: `quality.gaps=0`. No Arrow here: they are read before it is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

LIMITED: Final = ("errors", "skipped", "unframed", "gaps", "missing", "undecodable", "unmatched")
"""Columns of the table `quality` that say what could not be read."""


class Limit(NamedTuple):
    """How much of a column of LIMITED is tolerated, over all captures of a folder."""

    column: str
    most: int


def limit(text: str) -> Limit:
    """A limit as it is given: `quality.COLUMN=MOST`. Raises ValueError.

    >>> limit("quality.gaps=0")
    Limit(column='gaps', most=0)
    """
    name, _, most = text.partition("=")
    column = name.removeprefix("quality.")
    if not name.startswith("quality.") or column not in LIMITED:
        raise ValueError(
            f"there is no {name!r}: choose from {', '.join(f'quality.{one}' for one in LIMITED)}"
        )
    if not (most.isascii() and most.isdigit()):
        raise ValueError(f"{most!r} is no number for {name}: 0, 1 ...")
    return Limit(column, int(most))


def exceeded(rows: Iterable[Mapping[str, Any]], limits: Iterable[Limit]) -> list[str]:
    """What is above its limit, each in a line.

    >>> exceeded([{"gaps": 2}, {"gaps": 1}], [Limit("gaps", 2)])
    ['quality.gaps is 3, more than 2']
    """
    kept = list(rows)
    totals = [(one, sum(row[one.column] for row in kept)) for one in limits]
    return [
        f"quality.{one.column} is {total}, more than {one.most}"
        for one, total in totals
        if total > one.most
    ]
