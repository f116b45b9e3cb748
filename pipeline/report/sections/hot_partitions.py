"""Which partitions carry the load."""

from __future__ import annotations

from typing import Any, Final

from barnabas.captures.kafka.wording import size
from barnabas.pipeline.report.marks import each, marks
from barnabas.pipeline.report.parts import Drawn, Plot, Results, Row, Said, Table, rest, rows
from barnabas.pipeline.report.plotting import PALETTE, bars_height, names_axis

MOST: Final = 20
"""Bars."""

MEASURES: Final = {
    "bytes produced": "produced_bytes",
    "bytes fetched": "fetched_bytes",
    "records produced": "produced_records",
    "records fetched": "fetched_records",
}
"""By what the reader chooses."""

HOT, AMONG = 0.5, 3
"""A partition with that share of what is produced, among at least so many, stands out."""


def draw(results: Results) -> Drawn:
    """The busiest partitions by what the reader chooses."""
    found = rows(results, "hot_partitions")
    traces, of = [], []
    for measure, column in MEASURES.items():
        # named here, since each choice has an order of its own
        busiest = sorted(found, key=lambda row: -(row[column] or 0))[:MOST][::-1]
        of.append(each(busiest))
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
                "customdata": [_said(row, column) for row in busiest],
                "hovertemplate": "%{y}: %{customdata}<extra></extra>",
            }
        )
    layout: dict[str, Any] = {
        "xaxis": {"tickformat": "~s"},
        "yaxis": {**names_axis(()), "categoryorder": "trace"},
    }
    height = bars_height(min(len(found), MOST))
    plot = Plot("Busiest partitions", traces, layout, height, tuple(MEASURES), of)
    remarks = rest(len(found) - MOST, "quieter partitions are in the table only")
    return Drawn([*_hot(found)], [plot], [_table(found)], remarks)


def _name(row: Row) -> str:
    return f"{row['topic']}[{row['partition']}]"


def _said(row: Row, column: str) -> str:
    count = row[column] or 0
    return size(count) if column.endswith("bytes") else f"{count:,} records"


def _hot(found: Any) -> list[Said]:
    total = sum(row["produced_bytes"] or 0 for row in found)
    busy = [row for row in found if row["produced_bytes"]]
    if len(busy) < AMONG:
        return []
    first = max(busy, key=lambda row: row["produced_bytes"])
    share = first["produced_bytes"] / total
    if share < HOT:
        return []
    return [Said("odd", f"{_name(first)} receives {share:.0%} of the produced bytes", marks(first))]


def _table(found: Any) -> Table:
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
    return Table(columns, found, {"produced_bytes": size, "fetched_bytes": size})
