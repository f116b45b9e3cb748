"""Committed offsets compared with fetches: offsets fetched twice, and skipped."""

from __future__ import annotations

from barnabas.pipeline.report.marks import together
from barnabas.pipeline.report.parts import Content, Results, Statement, Table, rows
from barnabas.pipeline.report.wording import listed


def draw(results: Results) -> Content:
    """Draw a table with a row for each group and partition."""
    commit_rows = rows(results, "commits")
    statements = []
    for column, severity, text in (
        ("gaps", "bad", "offsets were skipped and never fetched in this capture"),
        ("refused", "odd", "commits of partitions, several in a request, were rejected"),
        ("rewinds", "odd", "commits went backwards"),
        ("duplicates", "odd", "offsets were fetched again"),
    ):
        affected = [row for row in commit_rows if row[column]]
        if affected:
            count = sum(row[column] for row in affected)
            partitions = listed(
                f"{row['topic']}[{row['partition']}] ({row['group']})" for row in affected
            )
            text = f"{count:,} {text}: {partitions}"
            statements.append(
                Statement("bad" if severity == "bad" else "odd", text, together(affected))
            )
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
    ranked = sorted(commit_rows, key=lambda row: -((row["gaps"] or 0) + (row["duplicates"] or 0)))
    return Content(statements, tables=[Table(columns, ranked)])
