"""Summarise a capture: counts, bytes, errors and latencies by connection, client, API, topic.

One pass, bounded memory: beyond 100,000 rows of a table, new labels share one row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from barnabas.captures.kafka.client_software import software_of
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.topics import topics_of
from barnabas.captures.summary.api_stats import Latencies
from barnabas.specs.dialects.keys import error_in_header

MOST: Final = 100_000
"""Rows of a table."""

OTHERS: Final = "all others"
"""The row of all labels beyond MOST."""

Label = Callable[[Exchange, Context], Iterable[str]]
"""Returns the rows that an exchange counts in; several if it has several topics."""


def _node(exchange: Exchange) -> str:
    """Return the row of the node that received the request; a controller's id may also be a broker's."""
    if exchange.controller is not None:
        return f"c{exchange.controller}"
    return "-" if exchange.broker is None else str(exchange.broker)


BY: Final[dict[str, Label]] = {
    "api": lambda exchange, _: (exchange.api,),
    "client": lambda exchange, _: (exchange.client_id or "-",),
    "connection": lambda exchange, _: (f"{exchange.connection} {exchange.client_address}",),
    "broker": lambda exchange, _: (_node(exchange),),
    "topic": lambda exchange, context: topics_of(exchange, context.topics),
}
"""By the name of a table: the function that labels exchanges."""

KINDS: Final = tuple(BY)
"""The names of the tables."""


@dataclass(slots=True)
class Row:
    """The counts of the exchanges with one label."""

    count: int = 0
    unanswered: int = 0
    """Exchanges without a response, for any reason (including acks=0)."""
    undecoded: int = 0
    """Exchanges with a response whose error is unreadable."""
    request_bytes: int = 0
    response_bytes: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    """The first error of each response that has one."""
    versions: dict[str, set[int]] = field(default_factory=dict)
    """The versions in use, by API."""
    software: set[str] = field(default_factory=set)
    """The software of the clients (ApiVersions v3+, KIP-511)."""
    latencies: Latencies = field(default_factory=Latencies)
    """Latencies as seen by the client."""

    def note(self, exchange: Exchange, software: str | None) -> None:
        """Count an exchange."""
        error = exchange.error
        if error is None and exchange.note and error_in_header(exchange.key):
            error = exchange.note
        self.count += 1
        self.request_bytes += exchange.request_size
        self.response_bytes += exchange.response_size or 0
        if exchange.response_size is None:
            self.unanswered += 1
        elif error is None:
            self.undecoded += 1
        elif error:
            self.errors[error] += 1
        self.versions.setdefault(exchange.api, set()).add(exchange.version)
        if software:
            self.software.add(software)
        if exchange.latency_ms is not None:
            self.latencies.note(round(exchange.latency_ms * 1e6))

    def document(self) -> dict[str, Any]:
        """Return the row in JSON form."""
        return {
            "count": self.count,
            "unanswered": self.unanswered,
            "undecoded": self.undecoded,
            "errors": dict(self.errors.most_common()),
            "p50_ms": self.latencies.percentile_ms(0.5),
            "p99_ms": self.latencies.percentile_ms(0.99),
            "max_ms": self.latencies.max_ms,
            "request_bytes": self.request_bytes,
            "response_bytes": self.response_bytes,
            "versions": {api: sorted(versions) for api, versions in sorted(self.versions.items())},
            "software": sorted(self.software),
        }


class Summary:
    """Tables of counts, and the time span of the exchanges."""

    def __init__(self, by: Iterable[str] = KINDS) -> None:
        self.tables: dict[str, dict[str, Row]] = {name: {} for name in by if name in BY}
        self.count = 0
        self.first = 0
        """When the first request arrived, ns since the epoch."""
        self.last = 0
        self._software: Memory[int, str] = Memory()

    def note(self, exchange: Exchange, context: Context) -> None:
        """Count an exchange from which the context has learned."""
        self.count += 1
        self.first = min(self.first or exchange.ts, exchange.ts)
        self.last = max(self.last, exchange.ts)
        if reported := software_of(exchange):
            self._software[exchange.connection] = reported
        software = self._software.get(exchange.connection)
        for by, table in self.tables.items():
            for name in BY[by](exchange, context):
                if name not in table and len(table) >= MOST:
                    name = OTHERS
                table.setdefault(name, Row()).note(exchange, software)

    def rows(self, by: str) -> list[tuple[str, Row]]:
        """Return the rows of a table, the most frequent first."""
        return sorted(self.tables[by].items(), key=lambda item: (-item[1].count, item[0]))
