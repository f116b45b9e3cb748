"""What could not be read of the captures: never passed over in silence."""

from __future__ import annotations

from collections import Counter
from typing import Final

from barnabas.captures.kafka.wording import size
from barnabas.pipeline.report.parts import Drawn, Results, Row, Said, Table, rows
from barnabas.plural import plural

MISSING: Final = "bytes are missing"
"""The reason of all gaps of a capture whose size is known: what their sizes are is no kind of its own."""


def unread_text(row: Row) -> str:
    """A line of what could not be read."""
    where = row["file"] or row["capture"]
    if row["reason"] == MISSING:
        return f"{plural(row['count'], 'gap')} in {where}, {row['bytes']:,} bytes"
    if row["kind"] == "missing":  # what other kinds may come of
        return f"{where}: {row['reason']}"
    return f"{row['kind']} in {where}, {plural(row['count'], 'time')}: {row['reason']}"


def draw(results: Results) -> Drawn:
    """A row for each kind, file and reason."""
    found = rows(results, "unread")
    kinds: Counter[str] = Counter()
    for row in found:
        if row["reason"] != MISSING and row["kind"] != "missing":
            kinds[row["kind"]] += row["count"]
    told = [
        *(unread_text(row) for row in found if row["kind"] == "missing"),
        *(unread_text(row) for row in found if row["reason"] == MISSING),
        *(f"{kind}, {plural(count, 'time')}" for kind, count in kinds.items()),
    ]
    said = [Said("odd", f"not read: {one}") for one in told]
    columns = {
        "kind": "kind",
        "capture": "capture",
        "file": "file",
        "reason": "why",
        "count": "times",
        "bytes": "size",
    }
    return Drawn(said, tables=[Table(columns, found, {"bytes": size})])
