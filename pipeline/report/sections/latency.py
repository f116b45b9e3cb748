"""Latency over time, by API."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any, Final

from barnabas.pipeline.report.marks import marks
from barnabas.pipeline.report.parts import Content, Plot, Results, Row, Statement, Table, rest, rows
from barnabas.pipeline.report.plotting import colours, grid, moment, most, time_axis
from barnabas.pipeline.report.rises import Rise, rise
from barnabas.pipeline.report.wording import duration

MEASURES: Final = {"p99": "p99_ms", "p50": "p50_ms", "max": "max_ms"}
"""The reader's choices."""

LEAST_DRAWN: Final = 0.01
"""ms; a response from the proxy itself may take less."""


def draw(results: Results) -> Content:
    """Draw p50, p99 and the maximum of each API, and the rises."""
    bucket_rows = rows(results, "latency")
    counts: Counter[str] = Counter()
    for row in bucket_rows:
        counts[row["api"]] += row["count"]
    apis = most(counts)
    colour_of = colours(apis)
    by_place = {(row["api"], row["bucket"]): row for row in bucket_rows}
    times = grid(row["bucket"] for row in bucket_rows)
    rises = _rises(bucket_rows)
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "marker": {"size": 5},
            **weight(api in rises, color=colour_of[api]),
            "name": api,
            "meta": measure,
            "x": [moment(at) for at in times],
            "y": [drawn(by_place.get((api, at)), column) for at in times],
            "customdata": [words(by_place.get((api, at)), column) for at in times],
            "hovertemplate": "%{customdata}",
        }
        for measure, column in MEASURES.items()
        for api in apis
    ]
    layout: dict[str, Any] = {
        "xaxis": time_axis(),
        "yaxis": {"type": "log", "title": {"text": "ms"}, "tickformat": "~g"},
        "hovermode": "x unified",
    }
    plot = Plot("Latency by API", traces, layout, 400, tuple(MEASURES))
    remarks = rest(len(counts) - len(apis), "less frequent APIs are in the table only")
    return Content([*_statements(rises)], [plot], [_table(bucket_rows)], remarks)


def drawn(row: Row | None, column: str) -> float | None:
    """Return the value to draw, or None if there is none; a logarithmic axis has no 0."""
    return None if row is None or row[column] is None else max(row[column], LEAST_DRAWN)


def words(row: Row | None, column: str) -> str:
    """Return the text at a point."""
    return "" if row is None else f"{duration(row[column])}, of {row['count']:,}"


def weight(rose: bool, **line: str) -> dict[str, Any]:
    """Return the style of a line: rises are in front of other lines."""
    return {"line": {"width": 3 if rose else 1, **line}, "zorder": int(rose)}


def _statements(rises: Mapping[str, Rise]) -> Iterator[Statement]:
    for api, rose in rises.items():
        of = marks({"start": rose.since, "end": rose.until})
        yield Statement("odd", f"{api}: {rose.text}", of)


def _rises(bucket_rows: Sequence[Row]) -> dict[str, Rise]:
    by_api: defaultdict[str, list[Row]] = defaultdict(list)
    for row in bucket_rows:
        by_api[row["api"]].append(row)
    return {api: rose for api, times in by_api.items() if (rose := rise(api, times))}


def _table(bucket_rows: Sequence[Row]) -> Table:
    """Return a table with a row for each API over all time, computed from the buckets."""
    by_api: defaultdict[str, list[Row]] = defaultdict(list)
    for row in bucket_rows:
        by_api[row["api"]].append(row)
    api_rows = [
        {
            "api": api,
            "count": sum(row["count"] for row in times),
            "p50": median(present_values(times, "p50_ms") or [math.nan]),
            "p99": max(present_values(times, "p99_ms"), default=None),
            "max": max(present_values(times, "max_ms"), default=None),
        }
        for api, times in by_api.items()
    ]
    api_rows.sort(key=lambda row: (-int(str(row["count"])), str(row["api"])))
    columns = {
        "api": "API",
        "count": "exchanges",
        "p50": "p50 (median of the buckets)",
        "p99": "p99 (worst bucket)",
        "max": "longest",
    }
    return Table(columns, api_rows, dict.fromkeys(("p50", "p99", "max"), duration))


def present_values(some_rows: Sequence[Row], column: str) -> list[float]:
    """Return the values that are not null."""
    return [row[column] for row in some_rows if row[column] is not None]
