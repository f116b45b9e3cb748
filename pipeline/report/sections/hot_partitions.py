"""The partitions with the most load."""

from __future__ import annotations

from typing import Any, Final

from barnabas.captures.kafka.wording import size
from barnabas.pipeline.report.marks import each, marks
from barnabas.pipeline.report.parts import Content, Plot, Results, Row, Statement, Table, rest, rows
from barnabas.pipeline.report.plotting import PALETTE, bars_height, names_axis

MOST: Final = 20
"""The most bars."""

MEASURES: Final = {
    "bytes produced": "produced_bytes",
    "bytes fetched": "fetched_bytes",
    "records produced": "produced_records",
    "records fetched": "fetched_records",
}
"""The reader's choices."""

HOT, AMONG = 0.5, 3
"""A partition stands out with this share of the produced bytes, among at least this many partitions."""


def draw(results: Results) -> Content:
    """Draw the busiest partitions by each measure."""
    partition_rows = rows(results, "hot_partitions")
    traces, marks_of_traces = [], []
    for measure, column in MEASURES.items():
        # sorted here, since each choice has its own order
        busiest = sorted(partition_rows, key=lambda row: -(row[column] or 0))[:MOST][::-1]
        marks_of_traces.append(each(busiest))
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "meta": measure,
                "name": measure,
                "showlegend": False,
                "marker": {"color": PALETTE[0]},
                "y": [_name(row) for row in busiest],
                "x": [row[column] or 0 for row in busiest],
                "customdata": [_measure_text(row, column) for row in busiest],
                "hovertemplate": "%{y}: %{customdata}<extra></extra>",
            }
        )
    layout: dict[str, Any] = {
        "xaxis": {"tickformat": "~s"},
        "yaxis": {**names_axis(()), "categoryorder": "trace"},
    }
    height = bars_height(min(len(partition_rows), MOST))
    plot = Plot("Busiest partitions", traces, layout, height, tuple(MEASURES), marks_of_traces)
    remarks = rest(len(partition_rows) - MOST, "quieter partitions are in the table only")
    return Content([*_statements(partition_rows)], [plot], [_table(partition_rows)], remarks)


def _name(row: Row) -> str:
    return f"{row['topic']}[{row['partition']}]"


def _measure_text(row: Row, column: str) -> str:
    count = row[column] or 0
    return size(count) if column.endswith("bytes") else f"{count:,} records"


def _statements(partition_rows: Any) -> list[Statement]:
    total = sum(row["produced_bytes"] or 0 for row in partition_rows)
    busy = [row for row in partition_rows if row["produced_bytes"]]
    if len(busy) < AMONG:
        return []
    first = max(busy, key=lambda row: row["produced_bytes"])
    share = first["produced_bytes"] / total
    if share < HOT:
        return []
    return [
        Statement("odd", f"{_name(first)} receives {share:.0%} of the produced bytes", marks(first))
    ]


def _table(partition_rows: Any) -> Table:
    columns = {
        "topic": "topic",
        "partition": "partition",
        "produced_records": "records produced",
        "produced_bytes": "bytes produced",
        "produced_requests": "Produce requests",
        "fetched_records": "records fetched",
        "fetched_bytes": "bytes fetched",
        "fetched_requests": "Fetch requests",
    }
    return Table(columns, partition_rows, {"produced_bytes": size, "fetched_bytes": size})
