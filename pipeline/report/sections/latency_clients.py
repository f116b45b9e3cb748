"""Latency over time by client, broker and API, with the series whose p99 rose, and outliers among clients."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from statistics import median
from typing import Any, Final

from barnabas.pipeline.report.marks import marks
from barnabas.pipeline.report.parts import Content, Plot, Results, Row, Statement, Table, rest, rows
from barnabas.pipeline.report.plotting import MOST, PALETTE, grid, label, moment, time_axis
from barnabas.pipeline.report.rises import Rise, rise
from barnabas.pipeline.report.sections.latency import drawn, present_values, weight, words
from barnabas.pipeline.report.wording import clock, duration, name

MEASURES: Final = {"p99": "p99_ms", "p50": "p50_ms"}
"""The reader's choices."""

SAID: Final = 5
"""The most rises in statements, the highest ones; the table has all."""

Series = tuple[str, str, int | None]
"""API, client, broker."""


def draw(results: Results) -> Content:
    """Draw a line and a row for each client, broker and API, rises first."""
    by_series: defaultdict[Series, list[Row]] = defaultdict(list)
    for row in rows(results, "latency_clients"):
        by_series[row["api"], name(row["client_id"]), row["broker"]].append(row)
    rises = {
        series_key: latest_rise
        for series_key in by_series
        if (latest_rise := rise(series_key[0], by_series[series_key]))
    }
    ranked = sorted(
        by_series,
        key=lambda series_key: (*_worst(rises.get(series_key)), -_count(by_series[series_key])),
    )
    statements = [
        Statement(
            "odd", f"{client}, {api} to {broker_name(broker)}: {latest_rise.text}", _of(latest_rise)
        )
        for (api, client, broker), latest_rise in sorted(
            rises.items(), key=lambda series_key: _worst(series_key[1])
        )
    ]
    outliers = [
        Statement("odd", _outlier_text(row), marks(row)) for row in rows(results, "outliers")
    ]
    remarks = rest(len(statements) - SAID, "more p99 rose: the first rows of the table")
    if len(ranked) > MOST:
        remarks.append(
            f"Of {len(ranked)} lines {MOST} are drawn at once: the first in the table that the filter "
            "leaves"
        )
    series = max((row["series"] for row in rows(results, "latency_clients")), default=0)
    if series > len(ranked):
        remarks.append(
            f"{series - len(ranked):,} of {series:,} series of a client, broker and API did not stand out, "
            "have the fewest exchanges and are not on this page: the SQL below without its last WHERE "
            "has them"
        )
    table = _table(
        [_row(series_key, by_series[series_key], rises.get(series_key)) for series_key in ranked]
    )
    first = [*outliers[:SAID], *statements[:SAID]]
    return Content(first, [_plot(ranked, by_series, rises)], [table], remarks)


def _outlier_text(row: Row) -> str:
    p50, usual = row["p50_ms"], row["usual_ms"]
    times = f"{p50 / usual:,.0f} times " if usual else ""
    return (
        f"{name(row['client_id'])}, {row['api']} to {broker_name(row['broker'])}: its median latency is "
        f"{duration(p50)} from {clock(row['start'])} to {clock(row['end'])}, {times}that of its "
        f"{row['clients'] - 1} peers, {duration(usual)}"
    )


def broker_name(broker: int | None) -> str:
    """Return the name of a broker; its node id is unknown for a client's first requests."""
    return "an unknown broker" if broker is None else f"broker {broker}"


def _worst(latency_rise: Rise | None) -> tuple[bool, float]:
    """Return a sort key that puts the highest rise first."""
    return latency_rise is None, -(latency_rise.worst["p99_ms"] if latency_rise else 0)


def _count(bucket_rows: Sequence[Row]) -> int:
    return sum(row["count"] for row in bucket_rows)


def _of(latency_rise: Rise) -> dict[str, Any]:
    return marks({**latency_rise.worst, "start": latency_rise.since, "end": latency_rise.until})


def _plot(
    ranked: Sequence[Series], by_series: dict[Series, list[Row]], rises: Collection[Series]
) -> Plot:
    times = grid(row["bucket"] for series_key in ranked for row in by_series[series_key])
    traces, marks_of_traces = [], []
    for measure, column in MEASURES.items():
        for api, client, broker in ranked:
            by_time = {row["bucket"]: row for row in by_series[api, client, broker]}
            # a pause becomes one empty point, however long it is
            neighbours = zip([None, *times], times, strict=False)
            at_all = [at for before, at in neighbours if at in by_time or before in by_time]
            traces.append(
                {
                    "type": "scatter",
                    "mode": "lines+markers",
                    "marker": {"size": 5},
                    **weight((api, client, broker) in rises),
                    "name": f"{label(client)} → {broker_name(broker)}, {api}",
                    "meta": measure,
                    "x": [moment(at) for at in at_all],
                    "y": [drawn(by_time.get(at), column) for at in at_all],
                    "customdata": [words(by_time.get(at), column) for at in at_all],
                    "hovertemplate": "%{customdata}",
                }
            )
            marks_of_traces.append(marks({"client_id": client}))
    layout: dict[str, Any] = {
        "colorway": PALETTE,  # by index, so that the lines that pass the filter differ
        "xaxis": time_axis(),
        "yaxis": {"type": "log", "title": {"text": "ms"}, "tickformat": "~g"},
        "hovermode": "x unified",
    }
    title = "Latency by client, broker and API"
    return Plot(title, traces, layout, 440, tuple(MEASURES), marks_of_traces, MOST)


def _row(series: Series, bucket_rows: Sequence[Row], rose: Rise | None) -> dict[str, Any]:
    api, client, broker = series
    p99 = present_values(bucket_rows, "p99_ms")
    worst = max(bucket_rows, key=lambda row: row["p99_ms"] or 0)
    return {
        "client_id": client,
        "broker": "unknown" if broker is None else str(broker),
        "api": api,
        "count": _count(bucket_rows),
        "p50": median(present_values(bucket_rows, "p50_ms") or [0]),
        "usual": median(p99 or [0]),
        "p99": max(p99, default=None),
        "broker_p99": worst["broker_p99_ms"],
        "at": clock(worst["bucket"]),
        "rose": f"{clock(rose.since)} to {clock(rose.until)}" if rose else None,
    }


def _table(series_rows: Sequence[Row]) -> Table:
    columns = {
        "client_id": "client",
        "broker": "broker",
        "api": "API",
        "count": "exchanges",
        "p50": "p50 (median of the buckets)",
        "usual": "p99 (median)",
        "p99": "p99 (worst bucket)",
        "broker_p99": "of it the broker's p99",
        "at": "worst at",
        "rose": "rose",
    }
    return Table(
        columns, series_rows, dict.fromkeys(("p50", "usual", "p99", "broker_p99"), duration)
    )
