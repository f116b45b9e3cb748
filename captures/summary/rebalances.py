"""List the generations of all groups in a capture: causes, durations, and late members."""

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
"""Rows that are retained, the latest ones."""

ROWS: Final = 256 << 20
"""Approximate bytes of all rows."""

Row = dict[str, Any]
"""See `barnabas.captures.checks.rebalance.Generation.row`."""


class Rebalances:
    """Generations of classic groups and of dialects, and group epochs of KIP-848, 932 and 1071."""

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
        """Add an exchange, in the order in which exchanges end."""
        for groups in self._of:
            self._keep(groups.learn(exchange))

    def finish(self) -> list[Row]:
        """End the last generations, and return all rows by group and time."""
        for groups in self._of:
            self._keep(groups.finish())
        return _in_order(self._rows.values())

    def rows(self) -> list[Row]:
        """Return all rows so far by group and time, including current generations."""
        present = (self._row(generation) for groups in self._of for generation in groups.present())
        return _in_order([*self._rows.values(), *present])

    @property
    def forgotten(self) -> int:
        """Return the number of dropped rows, and of dropped groups of dialects."""
        return self._rows.forgotten + self._dialects.forgotten

    def _keep(self, events: Iterable[Cause | Generation]) -> None:
        for event in events:
            if isinstance(event, Generation) and event.over:
                self.count += 1
                self._rows[self.count] = self._row(event)


def _in_order(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row["group"], row["ts"], row["generation"]))
