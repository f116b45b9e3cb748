"""Latency over time by client, broker and API, with the series whose p99 rose, and outliers among clients."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any, Final, NamedTuple

from barnabas.pipeline.report.grouping import grouped, present
from barnabas.pipeline.report.parts import Content, Plot, Row, Statement, table_of
from barnabas.pipeline.report.plotting import LOG_MS, MOST, grid, label, over_time
from barnabas.pipeline.report.rises import Rise, rise
from barnabas.pipeline.report.sections.latency import latency_line
from barnabas.pipeline.report.wording import client, clock, clock_span, duration

MEASURES: Final = {"p99": "p99_ms", "p50": "p50_ms"}
"""The reader's choices."""

STATEMENTS: Final = 5
"""The most statements about outliers, and about rises, the highest ones; the table has all."""


class Series(NamedTuple):
    """The latency of an API between a client and a broker."""

    api: str
    client: str
    broker: int | None
    rows: Sequence[Row]
    rise: Rise | None

    @property
    def exchanges(self) -> int:
        """Return the number of exchanges."""
        return sum(row["count"] for row in self.rows)

    @property
    def rank(self) -> tuple[float, int]:
        """Return a sort key that puts the highest rise first, and frequent exchanges before rare ones."""
        return -self.rise.worst["p99_ms"] if self.rise else 0, -self.exchanges


def draw(buckets: Sequence[Row], outliers: Sequence[Row]) -> Content:
    """Draw a line and a row for each client, broker and API, rises first."""
    all_series = sorted(_all_series(buckets), key=lambda series: series.rank)
    rises = [
        Statement(
            "warning",
            f"{series.client}, {series.api} to {broker_name(series.broker)}: {series.rise.text}",
            [series.rise.row],
        )
        for series in all_series
        if series.rise
    ]
    statements = [
        *(Statement("warning", _outlier_text(row), [row]) for row in outliers[:STATEMENTS]),
        *rises[:STATEMENTS],
    ]
    formats = dict.fromkeys(("p50", "usual", "p99", "broker_p99"), duration)
    table = table_of(
        [*map(_row, all_series)],
        "client_id, broker, api, count: exchanges, p50: p50 (median of the buckets), "
        "usual: p99 (median), p99: p99 (worst bucket), broker_p99: of it the broker's p99, "
        "at: worst at, rose",
        formats,
    )
    remarks = []
    if len(rises) > STATEMENTS:
        remarks.append(f"{len(rises) - STATEMENTS} more p99 rose: the first rows of the table")
    drawn, count = len(all_series), max((row["series"] for row in buckets), default=0)
    if drawn > MOST:
        remarks.append(
            f"Of {drawn} lines {MOST} are drawn at once: the first in the table that the filter leaves"
        )
    if count > drawn:
        remarks.append(
            f"{count - drawn:,} of {count:,} series of a client, broker and API did not stand out, "
            "have the fewest exchanges and are not on this page: the SQL below without its last WHERE "
            "has them"
        )
    return Content(statements, [_plot(all_series)], [table], remarks)


def _all_series(buckets: Sequence[Row]) -> Iterator[Series]:
    by_series = grouped(buckets, lambda row: (row["api"], client(row), row["broker"]))
    for (api, client_name, broker), rows in by_series.items():
        yield Series(api, client_name, broker, rows, rise(api, rows))


def _outlier_text(row: Row) -> str:
    p50, usual = row["p50_ms"], row["usual_ms"]
    times = f"{p50 / usual:,.0f} times " if usual else ""
    return (
        f"{client(row)}, {row['api']} to {broker_name(row['broker'])}: its median latency is "
        f"{duration(p50)} {clock_span(row)}, {times}that of its {row['clients'] - 1} peers, "
        f"{duration(usual)}"
    )


def broker_name(broker: int | None) -> str:
    """Return the name of a broker; its node id is unknown for a client's first requests."""
    return "an unknown broker" if broker is None else f"broker {broker}"


def _plot(all_series: Sequence[Series]) -> Plot:
    times = grid(row["bucket"] for series in all_series for row in series.rows)
    traces = []
    for measure, column in MEASURES.items():
        for series in all_series:
            # a pause becomes one empty point, however long it is
            buckets = {row["bucket"] for row in series.rows}
            neighbours = zip([None, *times], times, strict=False)
            moments = [at for before, at in neighbours if at in buckets or before in buckets]
            title = f"{label(series.client)} → {broker_name(series.broker)}, {series.api}"
            rose = series.rise is not None
            trace = latency_line(title, series.rows, moments, column, rose)
            traces.append(trace | {"meta": measure})
    rows = [{"client_id": series.client} for _ in MEASURES for series in all_series]
    title = "Latency by client, broker and API"
    return Plot(title, traces, over_time(LOG_MS), 440, tuple(MEASURES), rows, MOST)


def _row(series: Series) -> dict[str, Any]:
    p99 = present(series.rows, "p99_ms")
    worst = max(series.rows, key=lambda row: row["p99_ms"] or 0)
    rose = series.rise
    return {
        "client_id": series.client,
        "broker": "unknown" if series.broker is None else str(series.broker),
        "api": series.api,
        "count": series.exchanges,
        "p50": median(present(series.rows, "p50_ms") or [0]),
        "usual": median(p99 or [0]),
        "p99": max(p99, default=None),
        "broker_p99": worst["broker_p99_ms"],
        "at": clock(worst["bucket"]),
        "rose": clock_span(rose.row).removeprefix("from ") if rose else None,
    }
