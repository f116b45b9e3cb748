"""The findings of the checks of captures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from barnabas.captures.checks.finding import SEVERITIES
from barnabas.pipeline.report.marks import together
from barnabas.pipeline.report.parts import Content, Results, Row, Statement, Table, rows
from barnabas.plural import plural


def draw(results: Results) -> Content:
    """Draw a table with a row for each finding, the worst first."""
    finding_rows = sorted(
        rows(results, "findings"), key=lambda row: (SEVERITIES.index(row["severity"]), row["ts"])
    )
    rows_by_check: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in finding_rows:
        rows_by_check[row["severity"], row["check"]].append(row)
    statements = [
        Statement(
            "bad" if row["severity"] == "error" else "odd",
            f"{row['check']}: {plural(row['count'], row['severity'])}, first: {row['first']}",
            _of(rows_by_check[row["severity"], row["check"]], row["count"]),
        )
        for row in rows(results, "findings_by_check")
        if row["severity"] != "note"
    ]
    columns = {
        "severity": "severity",
        "check": "check",
        "ts": "when",
        "client": "client",
        "topic": "topic",
        "group": "group",
        "broker": "broker",
        "connection": "connection",
        "packets": "packets",
        "text": "what",
        "advice": "what to do",
    }
    return Content(statements, tables=[Table(columns, finding_rows)])


def _of(some_rows: Sequence[Row], count: int) -> dict[str, Any]:
    """Return the marks of findings if all of them are present, else none."""
    return together(some_rows) if len(some_rows) == count else {}
