"""Whether each producer's batches came to a partition in order."""

from __future__ import annotations

from barnabas.pipeline.report.marks import together
from barnabas.pipeline.report.parts import Drawn, Results, Said, Table, rows
from barnabas.pipeline.report.wording import listed
from barnabas.plural import plural


def draw(results: Results) -> Drawn:
    """A row for each batch out of order."""
    found = rows(results, "partition_order")
    where = listed(f"{row['topic']}[{row['partition']}]" for row in found)
    count = plural(results["partition_order"].total, "time")
    said = [Said("bad", f"batches came out of order {count}: {where}", together(found))]
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
    return Drawn(said, tables=[Table(columns, found)])
