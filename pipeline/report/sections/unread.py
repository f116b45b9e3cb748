"""The parts of captures that could not be read, which the report never hides."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Final

from barnabas.captures.kafka.wording import size
from barnabas.pipeline.reading.paths import SKIPPED
from barnabas.pipeline.report.grouping import counted
from barnabas.pipeline.report.parts import Content, Row, Statement, table_of
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


def draw(unread: Sequence[Row]) -> Content:
    """Draw a table with a row for each kind, file and reason."""
    whole = [row for row in unread if row["kind"] in WHOLE]
    gaps = [row for row in unread if row["reason"] == MISSING]
    others = [row for row in unread if row["kind"] not in WHOLE and row["reason"] != MISSING]
    lines = [
        *map(unread_text, [*whole, *gaps]),
        *(
            f"{kind}, {plural(count, 'time')}"
            for kind, count in counted(others, itemgetter("kind")).items()
        ),
    ]
    statements = [Statement("warning", f"not read: {line}") for line in lines]
    table = table_of(
        unread, "kind, capture, file, reason: why, count: times, bytes: size", {"bytes": size}
    )
    return Content(statements, tables=[table])
