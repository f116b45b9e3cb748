"""Show latencies by API, client and broker, and over time: as clients see them, and of the brokers alone."""

from __future__ import annotations

from typing import Any, Final

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import STRAY, Exchange
from barnabas.captures.summary.counts import Counts
from barnabas.captures.summary.heat_map import HeatMap
from barnabas.captures.summary.rows import Table
from barnabas.captures.summary.summary import BY, OTHERS

TABLES: Final = ("api", "client", "broker")

MOST: Final = 1000
"""Rows of a table that are told apart; new labels beyond them share the row OTHERS."""

SHOWN: Final = 100
"""Rows of a table in a document, the most frequent ones; the others share the row OTHERS."""


def _document(table: Table) -> list[dict[str, Any]]:
    """Return a table's most frequent rows in JSON form, then the others as one row."""
    rows, rest = table.ordered(), Counts()
    for _, row in rows[SHOWN:]:
        rest.add(row)
    return [
        {
            "name": label,
            "count": row.count,
            "p50_ms": row.latencies.percentile_ms(0.5),
            "p99_ms": row.latencies.percentile_ms(0.99),
            "max_ms": row.latencies.max_ms,
        }
        for label, row in (*rows[:SHOWN], (OTHERS, rest))
        if row.count
    ]


class LatencyView:
    """Percentiles by API, client and broker, and a heat map, as seen by clients and of the brokers alone.

    >>> view = LatencyView(Context())
    >>> view.add(Exchange(0, 1, "", "app", None, 3, 0, 0, 12, 8, latency_ms=2.0))
    >>> [row["name"] for table in view.rows()["client"]["tables"].values() for row in table]
    ['Metadata', 'app', '-']
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._sides = {
            side: ({name: Table(MOST) for name in TABLES}, HeatMap())
            for side in ("client", "broker")
        }

    def add(self, exchange: Exchange) -> None:
        """Add an exchange; responses without a request have no latency."""
        if exchange.key <= STRAY:
            return
        labels = [(name, label) for name in TABLES for label in BY[name](exchange, self._context)]
        for side, ms in (("client", exchange.latency_ms), ("broker", exchange.broker_ms)):
            tables, heat = self._sides[side]
            for name, label in labels:
                tables[name].note(label, ms)
            if ms is not None:
                heat.note(exchange.ts, round(ms, 3))  # as a filter on the cell's exchanges sees it

    def rows(self) -> dict[str, Any]:
        """Return, for clients and brokers, the rows of each table and the heat map."""
        return {
            side: {
                "tables": {name: _document(table) for name, table in tables.items()},
                "heat": heat.document(),
            }
            for side, (tables, heat) in self._sides.items()
        }
