"""The parts of captures that could not be read, which the report never hides."""

from __future__ import annotations

from collections import Counter
from typing import Final

from barnabas.captures.kafka.wording import size
from barnabas.pipeline.reading.paths import SKIPPED
from barnabas.pipeline.report.parts import Content, Results, Row, Statement, Table, rows
from barnabas.plural import plural

MISSING: Final = "bytes are missing"
"""The reason of all gaps of known size in a capture: gaps of different sizes share one row."""


WHOLE: Final = (SKIPPED, "missing")
"""Kinds about whole files, which are first: they may have caused the other kinds."""


def unread_text(row: Row) -> str:
    """Return a line about an unreadable part."""
    source = row["file"] or row["capture"]
    if row["reason"] == MISSING:
        return f"{plural(row['count'], 'gap')} in {source}, {row['bytes']:,} bytes"
    if row["kind"] in WHOLE:
        return f"{source}: {row['reason']}"
    return f"{row['kind']} in {source}, {plural(row['count'], 'time')}: {row['reason']}"


def draw(results: Results) -> Content:
    """Draw a table with a row for each kind, file and reason."""
    unread_rows = rows(results, "unread")
    kinds: Counter[str] = Counter()
    for row in unread_rows:
        if row["reason"] != MISSING and row["kind"] not in WHOLE:
            kinds[row["kind"]] += row["count"]
    lines = [
        *(unread_text(row) for row in unread_rows if row["kind"] in WHOLE),
        *(unread_text(row) for row in unread_rows if row["reason"] == MISSING),
        *(f"{kind}, {plural(count, 'time')}" for kind, count in kinds.items()),
    ]
    statements = [Statement("odd", f"not read: {line}") for line in lines]
    columns = {
        "kind": "kind",
        "capture": "capture",
        "file": "file",
        "reason": "why",
        "count": "times",
        "bytes": "size",
    }
    return Content(statements, tables=[Table(columns, unread_rows, {"bytes": size})])
