"""What the checks of captures find, at scale."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from barnabas.captures.checks.finding import SEVERITIES
from barnabas.pipeline.report.marks import together
from barnabas.pipeline.report.parts import Drawn, Results, Row, Said, Table, rows
from barnabas.plural import plural


def draw(results: Results) -> Drawn:
    """A row a finding, what is worst first."""
    found = sorted(
        rows(results, "findings"), key=lambda row: (SEVERITIES.index(row["severity"]), row["ts"])
    )
    of: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in found:
        of[row["severity"], row["check"]].append(row)
    said = [
        Said(
            "bad" if row["severity"] == "error" else "odd",
            f"{row['check']}: {plural(row['count'], row['severity'])}, first: {row['first']}",
            _of(of[row["severity"], row["check"]], row["count"]),
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
    return Drawn(said, tables=[Table(columns, found)])


def _of(found: Sequence[Row], count: int) -> dict[str, Any]:
    """Whose they are, if all are here: of more nobody knows."""
    return together(found) if len(found) == count else {}
