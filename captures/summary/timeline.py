"""Count exchanges, errors, bytes, connections and latencies by time, in at most COLUMNS columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from barnabas.captures.checks.finding import MS
from barnabas.captures.kafka.exchange import STRAY, Exchange
from barnabas.captures.summary.api_stats import Latencies

COLUMNS: Final = 160
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
    bytes: int = 0
    connections: set[int] = field(default_factory=set)
    latencies: Latencies = field(default_factory=Latencies)

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
        self._columns: dict[int, Column] = {}
        self._first = self._last = -1

    def add(self, exchange: Exchange) -> None:
        """Count an exchange; responses without a request have no time of their own."""
        if exchange.key <= STRAY:
            return
        place = exchange.ts // (self.width_ms * MS)
        if self._window_ms is not None:
            oldest = max(place, self._last) - self._window_ms // self.width_ms
            if place < oldest:
                return
            for each in [each for each in self._columns if each < oldest]:
                del self._columns[each]
            self._first = max(self._first, oldest)
        self._first = place if self._first < 0 else min(self._first, place)
        self._last = max(self._last, place)
        column = self._columns.setdefault(place, Column())
        column.count += 1
        column.errors += bool(exchange.error)
        column.bytes += exchange.request_size + (exchange.response_size or 0)
        if len(column.connections) < CONNECTIONS:
            column.connections.add(exchange.connection)
        if exchange.latency_ms is not None:
            column.latencies.note(round(exchange.latency_ms * MS))
        while self._last - self._first >= COLUMNS:
            self._widen()

    def _widen(self) -> None:
        self.width_ms *= 2
        self._first, self._last = self._first // 2, self._last // 2
        columns, self._columns = self._columns, {}
        for place, column in columns.items():
            self._columns.setdefault(place // 2, Column()).add(column)

    def document(self) -> dict[str, Any]:
        """Return the columns in JSON form, also the empty ones between the first and the last."""
        places = range(self._first, self._last + 1) if self._columns else range(0)
        columns = [self._columns.get(place, Column()) for place in places]
        return {
            "from": str(places.start * self.width_ms * MS),
            "width_ms": self.width_ms,
            "exchanges": [column.count for column in columns],
            "errors": [column.errors for column in columns],
            "bytes": [column.bytes for column in columns],
            "connections": [len(column.connections) for column in columns],
            "p50_ms": [column.latencies.percentile_ms(0.5) for column in columns],
            "p99_ms": [column.latencies.percentile_ms(0.99) for column in columns],
        }
