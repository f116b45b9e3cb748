"""The generations of the groups in a capture, a row each: why it began, how long it took, who was late."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from barnabas.captures.checks.dialect_groups import DialectGroups
from barnabas.captures.checks.epochs import Epochs
from barnabas.captures.checks.generations import Generations
from barnabas.captures.checks.rebalance import Cause, Generation
from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.exchange import Exchange

MOST: Final = 100_000
"""Rows that are kept: of more, the last ones."""

ROWS: Final = 256 << 20
"""Bytes of them, nearly."""

Row = dict[str, Any]
"""See `barnabas.captures.checks.rebalance.Generation.row`."""


class Rebalances:
    """Generations of classic groups and of dialects', and group epochs of those of KIP-848, 932 and 1071."""

    def __init__(
        self,
        most: int = MOST,
        bytes_: int = ROWS,
        row: Callable[[Generation], Row] = Generation.row,
    ) -> None:
        self.count = 0
        """Generations that are over."""
        self._rows: Memory[int, Row] = Memory(most, bytes_)
        self._row = row
        self._dialects = DialectGroups()
        self._of = (Generations(), Epochs(), Generations(read=self._dialects.of))

    def note(self, exchange: Exchange) -> None:
        """Take an exchange, in the order in which they end."""
        for of in self._of:
            self._keep(of.learn(exchange))

    def finish(self) -> list[Row]:
        """Rows by group and time; the last generations are over now."""
        for of in self._of:
            self._keep(of.finish())
        return _in_order(self._rows.values())

    def rows(self) -> list[Row]:
        """The same while more is to come, with the present generations."""
        present = (self._row(one) for of in self._of for one in of.present())
        return _in_order([*self._rows.values(), *present])

    @property
    def forgotten(self) -> int:
        """Rows, and groups of dialects, that made room for later ones."""
        return self._rows.forgotten + self._dialects.forgotten

    def _keep(self, found: Iterable[Cause | Generation]) -> None:
        for one in found:
            if isinstance(one, Generation) and one.over:
                self.count += 1
                self._rows[self.count] = self._row(one)


def _in_order(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row["group"], row["ts"], row["generation"]))
