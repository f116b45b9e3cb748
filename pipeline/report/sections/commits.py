"""Committed offsets against what was fetched: what was read twice, what was passed over."""

from __future__ import annotations

from pipeline.report.parts import Drawn, Results, Said, Table, cut, rows
from pipeline.report.wording import listed


def draw(results: Results) -> Drawn:
    """A row for each group and partition."""
    found = rows(results, "commits")
    said = []
    for column, severity, text in (
        ("gaps", "bad", "records were committed and never fetched here"),
        ("duplicates", "odd", "records were fetched again behind a commit"),
    ):
        some = [row for row in found if row[column]]
        if some:
            count = sum(row[column] for row in some)
            where = listed(f"{row['topic']}[{row['partition']}] ({row['group']})" for row in some)
            said.append(Said("bad" if severity == "bad" else "odd", f"{count:,} {text}: {where}"))
    columns = {
        "group": "group",
        "topic": "topic",
        "partition": "partition",
        "client_id": "client",
        "committed": "committed",
        "fetched": "fetched up to",
        "duplicates": "again",
        "gaps": "passed over",
    }
    ranked = sorted(found, key=lambda row: -((row["gaps"] or 0) + (row["duplicates"] or 0)))
    return Drawn(said, tables=[Table(columns, ranked)], remarks=[*cut(results, "commits")])
