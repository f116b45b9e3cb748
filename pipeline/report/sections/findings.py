"""What the checks of captures find, at scale."""

from __future__ import annotations

from collections import Counter

from barnabas.captures.checks.finding import SEVERITIES
from barnabas.pipeline.report.parts import Drawn, Results, Said, Table, cut, rows
from barnabas.plural import plural


def draw(results: Results) -> Drawn:
    """A row a finding, what is worst first."""
    found = sorted(
        rows(results, "findings"), key=lambda row: (SEVERITIES.index(row["severity"]), row["ts"])
    )
    counts = Counter((row["severity"], row["check"]) for row in found)
    said = [
        Said(
            "bad" if severity == "error" else "odd",
            f"{check}: {plural(count, severity)}, first: "
            + next(
                row["text"] for row in found if (row["severity"], row["check"]) == (severity, check)
            ),
        )
        for (severity, check), count in counts.items()
        if severity != "note"
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
