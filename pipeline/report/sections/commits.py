"""Committed offsets against what was fetched: what was read twice, what was skipped."""

from __future__ import annotations

from barnabas.pipeline.report.marks import together
from barnabas.pipeline.report.parts import Drawn, Results, Said, Table, rows
from barnabas.pipeline.report.wording import listed


def draw(results: Results) -> Drawn:
    """A row for each group and partition."""
    found = rows(results, "commits")
    said = []
    for column, severity, text in (
        ("gaps", "bad", "offsets were skipped and never fetched in this capture"),
        ("refused", "odd", "commits of partitions, several in a request, were rejected"),
        ("rewinds", "odd", "commits went backwards"),
        ("duplicates", "odd", "offsets were fetched again"),
    ):
        some = [row for row in found if row[column]]
        if some:
            count = sum(row[column] for row in some)
            where = listed(f"{row['topic']}[{row['partition']}] ({row['group']})" for row in some)
            text = f"{count:,} {text}: {where}"
            said.append(Said("bad" if severity == "bad" else "odd", text, together(some)))
    columns = {
        "group": "group",
        "topic": "topic",
        "partition": "partition",
        "client_id": "client",
        "committed": "committed",
        "fetched_to": "fetched up to",
        "lag": "not committed",
        "duplicates": "again",
        "gaps": "skipped",
        "refused": "commits rejected",
        "fenced": "transactions fenced",
        "rewinds": "commits backwards",
    }
    ranked = sorted(found, key=lambda row: -((row["gaps"] or 0) + (row["duplicates"] or 0)))
    return Drawn(said, tables=[Table(columns, ranked)])
