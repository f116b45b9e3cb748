"""The summary of a capture: counts, bytes, errors and latencies by connection, client, API, topic.

One pass, bounded memory: beyond 100,000 rows of a kind what is new counts in one row for all others.
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
"""Rows of a kind."""

OTHERS: Final = "all others"
"""The row of what came when there were so many."""

Label = Callable[[Exchange, Context], Iterable[str]]
"""The rows that an exchange counts in; several if it is about several topics."""


def _node(exchange: Exchange) -> str:
    """Return the row of the node that was asked: a controller's id may be a broker's, too."""
    if exchange.controller is not None:
        return f"c{exchange.controller}"
    return "-" if exchange.broker is None else str(exchange.broker)


BY: Final[tuple[tuple[str, Label], ...]] = (
    ("api", lambda exchange, _: (exchange.api,)),
    ("client", lambda exchange, _: (exchange.client_id or "-",)),
    ("connection", lambda exchange, _: (f"{exchange.connection} {exchange.client_address}",)),
    ("broker", lambda exchange, _: (_node(exchange),)),
    ("topic", lambda exchange, context: topics_of(exchange, context.topics)),
)
"""(what rows may be by, which rows an exchange counts in)."""

KINDS: Final = tuple(name for name, _ in BY)
"""What rows may be by."""


@dataclass(slots=True)
class Row:
    """What came of the exchanges of one kind."""

    count: int = 0
    unanswered: int = 0
    """Without a response, for whatever reason (acks=0 among them)."""
    undecoded: int = 0
    """With a response in which no error could be looked for."""
    request_bytes: int = 0
    response_bytes: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    """The first error of each response that has one."""
    versions: dict[str, set[int]] = field(default_factory=dict)
    """By API, those that were used."""
    software: set[str] = field(default_factory=set)
    """What the clients say they are (ApiVersions v3+, KIP-511)."""
    latencies: Latencies = field(default_factory=Latencies)
    """As the client saw them."""

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
        """In JSON form."""
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
            "versions": {api: sorted(found) for api, found in sorted(self.versions.items())},
            "software": sorted(self.software),
        }


class Summary:
    """Rows of each kind that is asked for, and from when to when the exchanges are."""

    def __init__(self, by: Iterable[str] = KINDS) -> None:
        self.tables: dict[str, dict[str, Row]] = {name: {} for name in by}
        self.count = 0
        self.first = 0
        """When the first request arrived, ns since the epoch."""
        self.last = 0
        self._labels = [(self.tables[name], label) for name, label in BY if name in self.tables]
        self._software: Memory[int, str] = Memory()

    def note(self, exchange: Exchange, context: Context) -> None:
        """Count an exchange; the context has learnt from it already."""
        self.count += 1
        self.first = min(self.first or exchange.ts, exchange.ts)
        self.last = max(self.last, exchange.ts)
        if said := software_of(exchange):
            self._software[exchange.connection] = said
        software = self._software.get(exchange.connection)
        for table, label in self._labels:
            for name in label(exchange, context):
                if name not in table and len(table) >= MOST:
                    name = OTHERS
                table.setdefault(name, Row()).note(exchange, software)

    def rows(self, by: str) -> list[tuple[str, Row]]:
        """The rows of a kind, the most frequent first."""
        return sorted(self.tables[by].items(), key=lambda item: (-item[1].count, item[0]))
