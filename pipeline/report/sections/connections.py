"""Clients that open connections again and again."""

from __future__ import annotations

from collections.abc import Sequence

from barnabas.pipeline.report.parts import STATEMENTS, Content, Row, Statement, table_of
from barnabas.pipeline.report.wording import client, clock_span, duration
from barnabas.plural import plural

EACH, SHORT_MS = 5, 30_000
"""Connections to each address, of this median length at most, stand out: clients keep one for minutes."""


def draw(clients: Sequence[Row]) -> Content:
    """Draw a table with a row for each client."""
    often = [
        row
        for row in clients
        if row["count"] >= EACH * row["servers"] and row["median_ms"] <= SHORT_MS
    ]
    statements = [Statement("warning", _text(row), [row]) for row in often[:STATEMENTS]]
    table = table_of(
        clients,
        "client_id, user, host, count: connections, servers: addresses, median_ms: median length, "
        "requests: requests of each, start, end",
    )
    return Content(statements, tables=[table])


def _text(row: Row) -> str:
    addresses = plural(row["servers"], "address", "addresses")
    return (
        f"{client(row)} opened {row['count']:,} connections to {addresses} "
        f"{clock_span(row)}: half of them lasted less than {duration(row['median_ms'])}"
    )
