"""Count exchanges, errors, bytes, connections and latencies by time, in at most COLUMNS columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, Self

from barnabas.captures.checks.finding import MS
from barnabas.captures.kafka.exchange import STRAY, Exchange
from barnabas.captures.summary.counts import Counts
from barnabas.captures.summary.time_columns import TimeColumns

COLUMNS: Final = 80
"""Columns of time; if more are needed, pairs of columns are merged."""

RECENT_MS: Final = 10_000
"""The span of the full columns that are "recent", with the newest one, which has just begun."""

CONNECTIONS: Final = 10_000
"""Connections of a column that are told apart."""


@dataclass(slots=True)
class Column(Counts):
    """The exchanges whose requests arrived in a span of time."""

    connections: set[int] = field(default_factory=set)

    def note(self, exchange: Exchange) -> None:
        """Count an exchange."""
        Counts.note(self, exchange)
        if len(self.connections) < CONNECTIONS:
            self.connections.add(exchange.connection)

    def document(self) -> dict[str, Any]:
        """Return the counts in JSON form."""
        return {
            "exchanges": self.count,
            "errors": self.errors,
            "bytes": self.bytes,
            "connections": len(self.connections),
            "p50_ms": self.latencies.percentile_ms(0.5),
            "p99_ms": self.latencies.percentile_ms(0.99),
        }

    def add(self, other: Self) -> None:
        """Add the counts of another column."""
        Counts.add(self, other)
        room = CONNECTIONS - len(self.connections)
        self.connections.update(islice(other.connections - self.connections, room))


class Timeline:
    """Figures by time, in columns of equal width.

    Args:
        window_ms: Columns older than this, seen from the newest exchange, are dropped; None: no column is.
    """

    def __init__(self, window_ms: int | None = None) -> None:
        self.total = Column()
        """All exchanges, also those of dropped columns."""
        self.last = 0
        """The time of the newest exchange, in ns since the epoch."""
        self._times = TimeColumns(COLUMNS, Column, Column.add, window_ms)

    def add(self, exchange: Exchange) -> None:
        """Count an exchange; responses without a request have no time of their own."""
        if exchange.key <= STRAY:
            return
        self.last = max(self.last, exchange.ts)
        self.total.note(exchange)
        column = self._times.at(exchange.ts)
        if column is not None:
            column.note(exchange)

    def document(self, now: int) -> dict[str, Any]:
        """Return the columns in JSON form, also the empty ones between the first and the last.

        `recent` is the sum of the newest columns, and `recent_ms` the time from the start of the first of
        them until now. Without a column of the last RECENT_MS, `recent` is empty.

        Args:
            now: The present, in ns since the epoch.
        """
        times = self._times
        columns = [times.columns.get(number, Column()) for number in times.span]
        now_ms, recent, recent_ms = now // MS, Column(), RECENT_MS
        if now_ms - times.span.stop * times.width_ms <= RECENT_MS:
            newest = columns[-(max(1, RECENT_MS // times.width_ms) + 1) :]
            recent_ms = max(now_ms - (times.span.stop - len(newest)) * times.width_ms, 1)
            for column in newest:
                recent.add(column)
        return {
            "from": str(times.span.start * times.width_ms * MS),
            "width_ms": times.width_ms,
            "columns": [column.document() for column in columns],
            "recent": recent.document(),
            "recent_ms": recent_ms,
            "total": self.total.document(),
        }
