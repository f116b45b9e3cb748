"""What the checks of captures find, at scale."""

from __future__ import annotations

from barnabas.captures.checks.finding import SEVERITIES
from barnabas.pipeline.report.parts import Drawn, Results, Said, Table, cut, rows
from barnabas.plural import plural


def draw(results: Results) -> Drawn:
    """A row a finding, what is worst first."""
    found = sorted(
        rows(results, "findings"), key=lambda row: (SEVERITIES.index(row["severity"]), row["ts"])
    )
    said = [
        Said(
            "bad" if row["severity"] == "error" else "odd",
            f"{row['check']}: {plural(row['count'], row['severity'])}, first: {row['first']}",
        )
        for row in rows(results, "findings_by_check")
        if row["severity"] != "note"
    ]
    columns = {
        "severity": "severity",
        "check": "check",
        "ts": "when",
        "connection": "connection",
        "packets": "packets",
        "text": "what",
        "advice": "what to do",
    }
    return Drawn(said, tables=[Table(columns, found)], remarks=[*cut(results, "findings")])
