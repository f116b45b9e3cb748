"""Batches that reached a partition out of their producer's order."""

from __future__ import annotations

from barnabas.pipeline.report.marks import together
from barnabas.pipeline.report.parts import Content, Results, Statement, Table, rows
from barnabas.pipeline.report.wording import listed
from barnabas.plural import plural


def draw(results: Results) -> Content:
    """Draw a table with a row for each batch out of order."""
    batch_rows = rows(results, "partition_order")
    partitions = listed(f"{row['topic']}[{row['partition']}]" for row in batch_rows)
    count = plural(results["partition_order"].total, "time")
    statements = [
        Statement("bad", f"batches came out of order {count}: {partitions}", together(batch_rows))
    ]
    columns = {
        "ts": "when",
        "topic": "topic",
        "partition": "partition",
        "client_id": "producer",
        "producer_id": "producer id",
        "kind": "what",
        "offset": "offset",
        "other_offset": "the other batch's offset",
        "base_sequence": "sequence",
        "missing": "skipped",
        "packet": "packet",
    }
    return Content(statements, tables=[Table(columns, batch_rows)])
