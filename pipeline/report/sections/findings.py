"""The findings of the checks of captures."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from barnabas.pipeline.report.grouping import grouped
from barnabas.pipeline.report.parts import Content, Row, Statement, table_of
from barnabas.plural import plural


def draw(findings: Sequence[Row], findings_by_check: Sequence[Row]) -> Content:
    """Draw a table with a row for each finding, the worst first."""
    listed = grouped(findings, itemgetter("severity", "check"))
    statements = []
    for row in findings_by_check:
        if row["severity"] != "note":
            severity, count = row["severity"], row["count"]
            first = listed.get((severity, row["check"]), [])
            statements.append(
                Statement(
                    severity,
                    f"{row['check']}: {plural(count, severity)}, first: {row['first']}",
                    first if len(first) == count else (),
                    f"{row['check']}-{severity}",
                )
            )
    table = table_of(
        findings,
        "severity, check, ts: when, client, topic, group, broker, connection, packets, text: what, "
        "advice: what to do",
    )._replace(row_name=_name)
    return Content(statements, tables=[table])


def _name(row: Row) -> str:
    """Return a name by which a link finds a finding also in the next analysis of its capture."""
    first = row["packets"][0] if row["packets"] else row["ts"].isoformat()
    return f"{row['check']}-{row['connection']}-{first}"
