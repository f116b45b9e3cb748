"""Logins, and those that failed."""

from __future__ import annotations

from typing import Final

from barnabas.pipeline.report.marks import marks
from barnabas.pipeline.report.parts import Content, Results, Row, Statement, Table, rows
from barnabas.pipeline.report.wording import clock, name

MOST: Final = 3
"""The most statements: those with the most failures."""


def draw(results: Results) -> Content:
    """Draw a table with a row for each identity and client."""
    logins = sorted(rows(results, "logins"), key=lambda row: -row["failed"])
    failed = [row for row in logins if row["failed"]]
    columns = {
        "identity": "mechanism and user",
        "client_id": "client",
        "host": "host",
        "count": "logins",
        "failed": "failed",
        "reason": "last reason",
        "start": "from",
        "end": "until",
    }
    statements = [Statement("bad", _text(row), marks(row)) for row in failed[:MOST]]
    return Content(statements, tables=[Table(columns, logins)])


def _text(row: Row) -> str:
    return (
        f"{row['failed']:,} of {row['count']:,} logins of {row['identity'] or 'an unknown user'} from "
        f"{row['host']} ({name(row['client_id'])}) failed from {clock(row['start'])} to "
        f"{clock(row['end'])}: {row['reason']}"
    )
