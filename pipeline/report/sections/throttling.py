"""The clients that brokers slow down by a quota."""

from __future__ import annotations

from collections.abc import Sequence

from barnabas.pipeline.report.grouping import grouped
from barnabas.pipeline.report.parts import STATEMENTS, Content, Row, Statement, table_of
from barnabas.pipeline.report.wording import client, clock_span, duration
from barnabas.plural import plural


def draw(throttled: Sequence[Row]) -> Content:
    """Draw a table with a row for each client, broker and quota."""
    by_client = grouped(throttled, lambda row: (client(row), row["user"] or "", row["quota"]))
    longest = sorted(by_client.values(), key=lambda rows: -sum(row["total_ms"] for row in rows))
    statements = [Statement("warning", _text(rows), rows) for rows in longest[:STATEMENTS]]
    table = table_of(
        throttled,
        "client_id, user, host, broker, quota, count: responses, total_ms: in all, "
        "longest_ms: longest, start, end",
    )
    return Content(statements, tables=[table])


def _text(rows: Sequence[Row]) -> str:
    """Return a sentence about a client and a quota, of all brokers."""
    first = rows[0]
    user = f" (user {first['user']})" if first["user"] else ""
    total, count = (sum(row[column] for row in rows) for column in ("total_ms", "count"))
    return (
        f"{client(first)}{user} was throttled by its {first['quota']} quota "
        f"{clock_span(*rows)}: {duration(total)} in {plural(count, 'response')}, up to "
        f"{duration(max(row['longest_ms'] for row in rows))} in one"
    )
