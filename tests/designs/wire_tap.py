"""The frames on a virtual network, as the exchanges of a proxy in between."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.captures.checks.finding import MS
from barnabas.captures.kafka.dialect_conversations import DialectConversations
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.tcp.events import Chunk, Closed, Event, Opened
from barnabas.specs.dialects import dialect
from barnabas.specs.frames import Direction

Tapped = list[tuple[int, int, Direction, bytes]]
"""When in ms, on which connection, and to where: whole frames; empty: it is closed."""


def exchanges(name: str, tapped: Tapped) -> list[Exchange]:
    """Return the exchanges of a dialect, in the order in which they end."""
    return list(DialectConversations(dialect(name)).exchanges(_events(tapped)))


def _events(tapped: Tapped) -> Iterator[Event]:
    known: set[int] = set()
    for at, number, direction, data in tapped:
        connection, now = number + 1, (at + 1) * MS
        if not data:
            yield Closed(connection, now, False)
            continue
        if connection not in known:
            known.add(connection)
            yield Opened(connection, now, f"10.0.0.{connection}:5000", "10.0.1.1:9092", {})
        yield Chunk(connection, "arrived", direction, now, data, ())
