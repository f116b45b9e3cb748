"""The clients that brokers slow down by a quota."""

from __future__ import annotations

from typing import Final

from barnabas.pipeline.report.marks import marks
from barnabas.pipeline.report.parts import Content, Results, Row, Statement, Table, rows
from barnabas.pipeline.report.wording import clock, duration, name
from barnabas.plural import plural

MOST: Final = 3
"""The most statements: those with the longest times."""


def draw(results: Results) -> Content:
    """Draw a table with a row for each client, broker and quota."""
    throttled = sorted(rows(results, "throttling"), key=lambda row: -row["total_ms"])
    columns = {
        "client_id": "client",
        "user": "user",
        "host": "host",
        "broker": "broker",
        "quota": "quota",
        "count": "responses",
        "total_ms": "in all",
        "longest_ms": "longest",
        "start": "from",
        "end": "until",
    }
    statements = [Statement("odd", _text(row), marks(row)) for row in throttled[:MOST]]
    return Content(statements, tables=[Table(columns, throttled)])


def _text(row: Row) -> str:
    user = f" (user {row['user']})" if row["user"] else ""
    return (
        f"{name(row['client_id'])}{user} was throttled by its {row['quota']} quota from "
        f"{clock(row['start'])} to {clock(row['end'])}: {duration(row['total_ms'])} in "
        f"{plural(row['count'], 'response')}, up to {duration(row['longest_ms'])} in one"
    )
