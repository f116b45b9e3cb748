"""Clients that open connections again and again."""

from __future__ import annotations

from typing import Final

from barnabas.pipeline.report.marks import marks
from barnabas.pipeline.report.parts import Content, Results, Row, Statement, Table, rows
from barnabas.pipeline.report.wording import clock, duration, name
from barnabas.plural import plural

MOST: Final = 3
"""The most statements: those about the most connections."""

EACH, SHORT_MS = 5, 30_000
"""Connections to each address, of this median length at most, stand out: clients keep one for minutes."""


def draw(results: Results) -> Content:
    """Draw a table with a row for each client."""
    clients = sorted(rows(results, "connections"), key=lambda row: -row["count"])
    often = [row for row in clients if _churns(row)]
    columns = {
        "client_id": "client",
        "user": "user",
        "host": "host",
        "count": "connections",
        "servers": "addresses",
        "median_ms": "median length",
        "requests": "requests of each",
        "start": "from",
        "end": "until",
    }
    statements = [Statement("odd", _text(row), marks(row)) for row in often[:MOST]]
    return Content(statements, tables=[Table(columns, clients)])


def _churns(row: Row) -> bool:
    return bool(row["count"] >= EACH * row["servers"] and row["median_ms"] <= SHORT_MS)


def _text(row: Row) -> str:
    addresses = plural(row["servers"], "address", "addresses")
    return (
        f"{name(row['client_id'])} opened {row['count']:,} connections to {addresses} from "
        f"{clock(row['start'])} to {clock(row['end'])}: half of them lasted less than "
        f"{duration(row['median_ms'])}"
    )
