"""Latency over time, by API."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from operator import itemgetter
from statistics import median
from typing import Any, Final

from barnabas.pipeline.report.grouping import counted, grouped, most, present
from barnabas.pipeline.report.parts import Content, Plot, Row, Statement, rest, table_of
from barnabas.pipeline.report.plotting import LOG_MS, MOST, grid, line, over_time
from barnabas.pipeline.report.rises import rise
from barnabas.pipeline.report.wording import duration

MEASURES: Final = {"p99": "p99_ms", "p50": "p50_ms", "max": "max_ms"}
"""The reader's choices."""

LEAST_DRAWN: Final = 0.01
"""ms; a response from the proxy itself may take less, and a logarithmic axis has no 0."""


def draw(buckets: Sequence[Row]) -> Content:
    """Draw p50, p99 and the maximum of each API, and the rises."""
    counts = counted(buckets, itemgetter("api"))
    by_api = grouped(buckets, itemgetter("api"))
    rises = {api: rose for api, rows in by_api.items() if (rose := rise(api, rows))}
    times = grid(row["bucket"] for row in buckets)
    apis = most(counts, MOST)
    traces = [
        latency_line(api, by_api[api], times, column, api in rises) | {"meta": measure}
        for measure, column in MEASURES.items()
        for api in apis
    ]
    plot = Plot("Latency by API", traces, over_time(LOG_MS), 400, tuple(MEASURES))
    statements = [
        Statement("warning", f"{api}: {rose.text}", [rose.row]) for api, rose in rises.items()
    ]
    # over all time, computed from the buckets
    api_rows = [
        {
            "api": api,
            "count": counts[api],
            "p50": median(present(by_api[api], "p50_ms") or [float("nan")]),
            "p99": max(present(by_api[api], "p99_ms"), default=None),
            "max": max(present(by_api[api], "max_ms"), default=None),
        }
        for api in most(counts)
    ]
    table = table_of(
        api_rows,
        "api, count: exchanges, p50: p50 (median of the buckets), p99: p99 (worst bucket), "
        "max: longest",
        dict.fromkeys(("p50", "p99", "max"), duration),
    )
    remarks = rest(len(counts) - len(apis), "less frequent API")
    return Content(statements, [plot], [table], remarks)


def latency_line(
    title: str, rows: Sequence[Row], times: Sequence[datetime], column: str, rose: bool
) -> dict[str, Any]:
    """Return the line of a series, without a point where it has no value; rises are in front."""
    by_time = {row["bucket"]: row for row in rows}
    points = [by_time.get(at) for at in times]
    return line(
        title,
        times,
        [
            None if row is None or row[column] is None else max(row[column], LEAST_DRAWN)
            for row in points
        ],
        line={"width": 3 if rose else 1},
        zorder=int(rose),
        customdata=[
            "" if row is None else f"{duration(row[column])}, of {row['count']:,}" for row in points
        ],
        hovertemplate="%{customdata}",
    )
