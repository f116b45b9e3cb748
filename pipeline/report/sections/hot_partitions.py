"""The partitions with the most load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from barnabas.captures.kafka.wording import size
from barnabas.pipeline.report.parts import Content, Plot, Row, Statement, rest, table_of
from barnabas.pipeline.report.plotting import PALETTE, bars, by_name
from barnabas.pipeline.report.wording import partition, percent

MOST: Final = 20
"""The most bars."""

MEASURES: Final = {
    "bytes produced": "produced_bytes",
    "bytes fetched": "fetched_bytes",
    "records produced": "produced_records",
    "records fetched": "fetched_records",
}
"""The reader's choices."""

COLUMNS: Final = {
    "produced_bytes": "produced_records: records produced, produced_bytes: bytes produced, "
    "produced_requests: Produce requests",
    "fetched_bytes": "fetched_records: records fetched, fetched_bytes: bytes fetched, "
    "fetched_requests: Fetch requests",
}
"""Columns of the table, by the column without which they are left out: perhaps nothing was captured."""

HOT, AMONG = 0.5, 3
"""A partition stands out with this share of the produced bytes, among at least this many partitions."""


def draw(partitions: Sequence[Row]) -> Content:
    """Draw the busiest partitions by each measure that has data."""
    measures = {
        measure: column
        for measure, column in MEASURES.items()
        if any(row[column] for row in partitions)
    }
    # each choice has its own order
    busiest = {
        measure: sorted(partitions, key=lambda row: -(row[column] or 0))[:MOST][::-1]
        for measure, column in measures.items()
    }
    traces = [
        bars(
            [partition(row) for row in busiest[measure]],
            [row[column] or 0 for row in busiest[measure]],
            meta=measure,
            name=measure,
            showlegend=False,
            marker={"color": PALETTE[0]},
            customdata=[_amount(row, column) for row in busiest[measure]],
            hovertemplate="%{y}: %{customdata}<extra></extra>",
        )
        for measure, column in measures.items()
    ]
    names = map(partition, partitions[:MOST])
    layout, height = by_name(names, {"tickformat": "~s"})
    layout["yaxis"] |= {"categoryorder": "trace", "categoryarray": []}
    rows = [*busiest.values()]
    plot = Plot("Busiest partitions", traces, layout, height, tuple(measures), rows)
    table = table_of(
        partitions,
        ", ".join(
            [
                "topic, partition",
                *(columns for key, columns in COLUMNS.items() if key in measures.values()),
            ]
        ),
        {"produced_bytes": size, "fetched_bytes": size},
    )
    remarks = rest(len(partitions) - MOST, "quieter partition")
    return Content([*_statements(partitions)], [plot], [table], remarks)


def _amount(row: Row, column: str) -> str:
    count = row[column] or 0
    return size(count) if column.endswith("bytes") else f"{count:,} records"


def _statements(partitions: Sequence[Row]) -> Iterator[Statement]:
    busy = [row for row in partitions if row["produced_bytes"]]
    if len(busy) < AMONG:
        return
    first = max(busy, key=lambda row: row["produced_bytes"])
    share = first["produced_bytes"] / sum(row["produced_bytes"] for row in busy)
    if share >= HOT:
        text = f"{partition(first)} receives {percent(share)} of the produced bytes"
        yield Statement("warning", text, [first])
