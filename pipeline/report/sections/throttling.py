"""The clients that brokers slow down by a quota."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from barnabas.pipeline.report.marks import together
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
    by_client: defaultdict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in throttled:
        by_client[name(row["client_id"]), row["user"] or "", row["quota"]].append(row)
    longest = sorted(by_client.values(), key=lambda of: -sum(row["total_ms"] for row in of))
    statements = [Statement("odd", _text(of), together(of)) for of in longest[:MOST]]
    return Content(statements, tables=[Table(columns, throttled)])


def _text(of: Sequence[Row]) -> str:
    """Return a sentence about a client and a quota, of all brokers."""
    first = of[0]
    user = f" (user {first['user']})" if first["user"] else ""
    total, count = (sum(row[column] for row in of) for column in ("total_ms", "count"))
    return (
        f"{name(first['client_id'])}{user} was throttled by its {first['quota']} quota from "
        f"{clock(min(row['start'] for row in of))} to {clock(max(row['end'] for row in of))}: "
        f"{duration(total)} in {plural(count, 'response')}, up to "
        f"{duration(max(row['longest_ms'] for row in of))} in one"
    )
