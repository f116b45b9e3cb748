"""Count what passes now: rates, errors and latencies of the last seconds, by client, API, topic and group.

    figures = Figures(context)
    figures.add(exchange)       # from which the context has learned, in the order in which exchanges end
    figures.snapshot(now)       # in JSON form; `now` is the end of the window, in ns since the epoch

Nothing here reads a clock. Of each table the NAMES names that were active last are retained.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Self

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.notes import is_failure
from barnabas.captures.kafka.topics import topics_of
from barnabas.captures.summary.counts import Counts
from barnabas.captures.summary.live_groups import LiveGroups
from barnabas.captures.summary.traffic import SECOND, WINDOW, Traffic

NAMES: Final = 1000
"""Rows of a table that are retained, and flows of topics."""

CONNECTIONS: Final = 10_000
"""Connections that are counted."""


@dataclass(slots=True)
class SecondCounts(Counts):
    """The counts of exchanges in one second."""

    second: int = 0
    unanswered: int = 0
    """Requests that got no response, though they needed one."""
    faults: int = 0
    """Exchanges that a rule changed."""

    def note(self, exchange: Exchange) -> None:
        """Count an exchange."""
        Counts.note(self, exchange)
        self.unanswered += exchange.response_size is None and is_failure(exchange.note)
        self.faults += bool(exchange.rules)

    def add(self, other: Self) -> None:
        """Add the counts of another second."""
        Counts.add(self, other)
        self.unanswered += other.unanswered
        self.faults += other.faults


class Series:
    """The counts of a row: of all exchanges since the start, and of each of the last seconds."""

    def __init__(self, seconds: int) -> None:
        self.count = 0
        self.last_api = ""
        self._seconds: deque[SecondCounts] = deque(maxlen=seconds)

    def note(self, exchange: Exchange) -> None:
        """Count an exchange. Exchanges end in order; a late one counts in the latest second."""
        self.count += 1
        self.last_api = exchange.api
        second = exchange.end // SECOND
        if not self._seconds or self._seconds[-1].second < second:
            self._seconds.append(SecondCounts(second=second))
        self._seconds[-1].note(exchange)

    def after(self, second: int) -> Iterator[SecondCounts]:
        """Yield the counts of the seconds after a second."""
        return (counts for counts in self._seconds if counts.second > second)

    def row(self, second: int, seconds: float) -> dict[str, Any]:
        """Return the row in JSON form.

        Args:
            second: The last second before the window.
            seconds: The length of the window, by which counts are divided.
        """
        counts = SecondCounts()
        for each in self.after(second):
            counts.add(each)
        latencies = counts.latencies
        return {
            "count": self.count,
            "per_s": counts.count / seconds,
            "errors_per_s": counts.errors / seconds,
            "unanswered_per_s": counts.unanswered / seconds,
            "faults_per_s": counts.faults / seconds,
            "bytes_per_s": counts.bytes / seconds,
            "p50_ms": latencies.percentile_ms(0.5),
            "p99_ms": latencies.percentile_ms(0.99),
            "max_ms": latencies.max_ms,
            "last_api": self.last_api,
        }


class Figures:
    """The figures of the last WINDOW seconds.

    >>> figures = Figures(Context())
    >>> figures.add(Exchange(0, 1, "", "app", None, 3, 0, 0, 12, 8, latency_ms=2.0))
    >>> snapshot = figures.snapshot(now=4 * SECOND)
    >>> snapshot["window_s"], snapshot["total"]["count"], snapshot["clients"][0]["last_api"]
    (3.998, 1, 'Metadata')
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._total = Series(WINDOW)
        self._tables: dict[str, Memory[str, Series]] = {
            name: Memory(NAMES) for name in ("clients", "apis", "topics")
        }
        self._connections: Memory[int, int] = Memory(CONNECTIONS)
        """By connection: when its last exchange ended."""
        self._flows = Traffic(context, most=NAMES)
        self._groups = LiveGroups(context)
        self._first = 0
        self.last = 0
        """When the last exchange ended, in ns since the epoch; 0: none so far."""

    def add(self, exchange: Exchange) -> None:
        """Add an exchange from which the context has learned, in the order in which exchanges end."""
        end = exchange.end
        self._first = min(self._first or end, end)
        self.last = max(self.last, end)
        self._connections[exchange.connection] = end
        self._total.note(exchange)
        self._note("clients", (exchange.client,), exchange)
        self._note("apis", (exchange.api,), exchange)
        self._note("topics", topics_of(exchange, self._context.topics), exchange)
        self._flows.add(exchange)
        self._groups.add(exchange)

    def snapshot(self, now: int) -> dict[str, Any]:
        """Return the figures of the window that ends at `now`, in JSON form; times are texts of ns.

        The window begins with a whole second, or with the first exchange.
        """
        before = now // SECOND - WINDOW
        since = max((before + 1) * SECOND, self._first or now)
        seconds = max((now - since) / SECOND, 1.0)
        tables = {
            name: [{"name": row, **series.row(before, seconds)} for row, series in table.items()]
            for name, table in self._tables.items()
        }
        ends = [end for end in self._connections.values() if end >= since]
        return {
            "now": str(now),
            "first": str(self._first),
            "window_s": seconds,
            "connections": len(ends),
            "total": self._total.row(before, seconds),
            "clients": tables["clients"],
            "topics": self._with_flows(tables["topics"], now, WINDOW / seconds),
            "groups": self._groups.rows(),
            "apis": tables["apis"],
            "forgotten": self.forgotten,
        }

    @property
    def forgotten(self) -> int:
        """Return the number of dropped rows."""
        tables = sum(table.forgotten for table in self._tables.values())
        return tables + self._flows.forgotten + self._groups.forgotten

    def _note(self, table: str, names: Iterable[str], exchange: Exchange) -> None:
        for name in names:
            series = self._tables[table].get(name)
            if series is None:
                series = Series(WINDOW)
            series.note(exchange)
            self._tables[table][name] = series

    def _with_flows(
        self, rows: list[dict[str, Any]], now: int, factor: float
    ) -> list[dict[str, Any]]:
        """Add to the rows of topics how fast they are written and read.

        factor: The length of the flows' window, divided by the length of this one.
        """
        units = ("records", "bytes")
        names = [f"{direction}_{unit}_per_s" for direction in ("write", "read") for unit in units]
        empty = dict.fromkeys(names, 0.0)
        rates = {row["name"]: {**row, **empty} for row in rows}
        for flow in self._flows.rows(now):
            row = rates.get(flow["topic"])
            if row is None:
                continue
            for unit in units:
                row[f"{flow['direction']}_{unit}_per_s"] += flow[f"{unit}_per_s"] * factor
        return list(rates.values())
