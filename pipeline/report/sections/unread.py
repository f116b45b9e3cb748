"""What could not be read of the captures: never passed over in silence."""

from __future__ import annotations

from collections import Counter

from barnabas.captures.kafka.wording import size
from barnabas.pipeline.report.parts import Drawn, Results, Said, Table, cut, rows
from barnabas.plural import plural


def draw(results: Results) -> Drawn:
    """A row for each kind, file and reason."""
    found = rows(results, "unread")
    kinds: Counter[str] = Counter()
    for row in found:
        kinds[row["kind"]] += row["count"]
    said = [
        Said("odd", f"not read: {kind}, {plural(count, 'time')}") for kind, count in kinds.items()
    ]
    columns = {
        "kind": "kind",
        "capture": "capture",
        "file": "file",
        "reason": "why",
        "count": "times",
        "bytes": "size",
    }
    return Drawn(
        said, tables=[Table(columns, found, {"bytes": size})], remarks=[*cut(results, "unread")]
    )
