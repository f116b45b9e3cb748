"""Generations and epochs of groups as bands of time: who led, who was late, how long delivery stood still."""

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
"""Bands that are kept, the last ones."""


def band(one: Generation) -> Row:
    """What `Generation.row` says, and for whom it waited, and how long nothing was delivered."""
    waited, standstill = one.waited, one.standstill
    return {
        **one.row(),
        "from": str(one.began),
        "standstill_ms": None if standstill is None else standstill / MS,
        "late": None
        if waited is None
        else {"kind": waited.kind, "members": list(waited.members), "ms": waited.ns / MS},
        "over": one.over,
    }


class Bands:
    """Bands of all groups, made by what `summary --by group` prints.

    >>> Bands(Context()).rows()
    []
    """

    def __init__(self, context: Context, most: int = MOST) -> None:
        self._generations = Rebalances(most, BYTES, band)
        self._moves = Moves(context)

    @property
    def forgotten(self) -> int:
        """Bands, moves and owners that made room for later ones."""
        return self._generations.forgotten + self._moves.forgotten + self._moves.fell_out

    def add(self, exchange: Exchange) -> None:
        """Take an exchange of which the context has learnt, in the order in which they end."""
        self._generations.note(exchange)
        self._moves.add(exchange)

    def rows(self) -> list[dict[str, Any]]:
        """By group and time, each until the next one begins; None: it is the last one."""
        rows = self._generations.rows()
        untils = [
            following["from"] if following["group"] == row["group"] else None
            for row, following in pairwise(rows)
        ]
        return [
            {**row, "until": until, "moved": self._moves.of(row["group"], row["generation"])}
            for row, until in zip(rows, [*untils, None], strict=False)
        ]
