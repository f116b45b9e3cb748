"""Count exchanges, errors, bytes, connections and latencies by time, in at most COLUMNS columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from barnabas.captures.checks.finding import MS
from barnabas.captures.kafka.exchange import STRAY, Exchange
from barnabas.captures.kafka.normal_errors import is_normal
from barnabas.captures.summary.api_stats import Latencies

COLUMNS: Final = 80
"""Columns of time; if more are needed, pairs of columns are merged."""

WIDTH_MS: Final = 10
"""The initial width of a column."""

CONNECTIONS: Final = 10_000
"""Connections of a column that are told apart."""


@dataclass(slots=True)
class Column:
    """The exchanges whose requests arrived in a span of time."""

    count: int = 0
    errors: int = 0
    """Responses with an error that is no part of normal operation."""
    bytes: int = 0
    connections: set[int] = field(default_factory=set)
    latencies: Latencies = field(default_factory=Latencies)

    def note(self, exchange: Exchange) -> None:
        """Count an exchange."""
        self.count += 1
        self.errors += bool(exchange.error) and not is_normal(exchange.api, exchange.error or "")
        self.bytes += exchange.request_size + (exchange.response_size or 0)
        if len(self.connections) < CONNECTIONS:
            self.connections.add(exchange.connection)
        if exchange.latency_ms is not None:
            self.latencies.note(round(exchange.latency_ms * MS))

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

    def add(self, other: Column) -> None:
        """Add the counts of another column."""
        self.count += other.count
        self.errors += other.errors
        self.bytes += other.bytes
        self.connections |= other.connections
        self.latencies.add(other.latencies)


class Timeline:
    """Figures by time. A column is 10 ms wide, times a power of two.

    Args:
        window_ms: Columns older than this, seen from the newest exchange, are dropped; None: no column is.
    """

    def __init__(self, window_ms: int | None = None) -> None:
        self.width_ms = WIDTH_MS
        self._window_ms = window_ms
        self.total = Column()
        """All exchanges, also those of dropped columns."""
        self._columns: dict[int, Column] = {}
        self._first = self._last = -1

    def add(self, exchange: Exchange) -> None:
        """Count an exchange; responses without a request have no time of their own."""
        if exchange.key <= STRAY:
            return
        self.total.note(exchange)
        number = exchange.ts // (self.width_ms * MS)
        if number > self._last:
            self._last = number
            self._forget()
        if number < self._oldest:
            return
        self._first = number if self._first < 0 else min(self._first, number)
        self._columns.setdefault(number, Column()).note(exchange)
        while self._last - self._first >= COLUMNS:
            self._widen()

    @property
    def _oldest(self) -> int:
        """Return the number of the first column in the window."""
        if self._window_ms is None:
            return 0
        return self._last - self._window_ms // self.width_ms + 1

    def _forget(self) -> None:
        """Drop the columns before the window."""
        for number in [number for number in self._columns if number < self._oldest]:
            del self._columns[number]
        self._first = max(self._first, min(self._columns, default=self._last))

    def _widen(self) -> None:
        self.width_ms *= 2
        self._first, self._last = self._first // 2, self._last // 2
        columns, self._columns = self._columns, {}
        for number, column in columns.items():
            self._columns.setdefault(number // 2, Column()).add(column)

    def document(self) -> dict[str, Any]:
        """Return the columns in JSON form, also the empty ones between the first and the last."""
        places = range(self._first, self._last + 1) if self._columns else range(0)
        columns = [self._columns.get(number, Column()) for number in places]
        return {
            "from": str(places.start * self.width_ms * MS),
            "width_ms": self.width_ms,
            "columns": [column.document() for column in columns],
            "total": self.total.document(),
        }
