"""Show generations and epochs of groups as bands of time: leader, late members, and standstill."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

from barnabas.captures.checks.finding import MS
from barnabas.captures.checks.rebalance import Generation
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.memory import BYTES
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.summary.moves import Moves
from barnabas.captures.summary.rebalances import Rebalances, Row

MOST: Final = 10_000
"""Bands that are retained, the latest ones."""


def band(generation: Generation) -> Row:
    """Return `Generation.row` with the late members, and how long the group consumed nothing."""
    delay, standstill = generation.delay, generation.standstill
    return {
        **generation.row(),
        "from": str(generation.began),
        "standstill_ms": None if standstill is None else standstill / MS,
        "late": None
        if delay is None
        else {"kind": delay.kind, "members": list(delay.members), "ms": delay.ns / MS},
        "over": generation.over,
    }


class Bands:
    """The bands of all groups, computed like `summary --by group`.

    >>> Bands(Context()).rows()
    []
    """

    def __init__(self, context: Context, most: int = MOST) -> None:
        self._generations = Rebalances(most, BYTES, band)
        self._moves = Moves(context)

    @property
    def forgotten(self) -> int:
        """Return the number of dropped bands, moves and owners."""
        return self._generations.forgotten + self._moves.forgotten + self._moves.fell_out

    def add(self, exchange: Exchange) -> None:
        """Add an exchange from which the context has learned, in the order in which exchanges end."""
        self._generations.note(exchange)
        self._moves.add(exchange)

    def rows(self) -> list[dict[str, Any]]:
        """Return bands by group and time, each until the next one begins (None: the last one)."""
        rows = self._generations.rows()
        untils = [
            following["from"] if following["group"] == row["group"] else None
            for row, following in pairwise(rows)
        ]
        return [
            {**row, "until": until, "moved": self._moves.of(row["group"], row["generation"])}
            for row, until in zip(rows, [*untils, None], strict=False)
        ]
