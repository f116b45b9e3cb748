"""Logins, and those that failed."""

from __future__ import annotations

from collections.abc import Sequence

from barnabas.pipeline.report.parts import STATEMENTS, Content, Row, Statement, table_of
from barnabas.pipeline.report.wording import client, clock_span


def draw(logins: Sequence[Row]) -> Content:
    """Draw a table with a row for each identity and client."""
    failed = [row for row in logins if row["failed"]]
    statements = [Statement("error", _text(row), [row]) for row in failed[:STATEMENTS]]
    table = table_of(
        logins,
        "identity: mechanism and user, client_id, host, count: logins, failed, reason: last reason, "
        "start, end",
    )
    return Content(statements, tables=[table])


def _text(row: Row) -> str:
    return (
        f"{row['failed']:,} of {row['count']:,} logins of {row['identity'] or 'an unknown user'} from "
        f"{row['host']} ({client(row)}) failed {clock_span(row)}: {row['reason']}"
    )
