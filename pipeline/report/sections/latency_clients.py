"""Latency over time by client, broker and API: whose p99 to which broker rose, and when."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from statistics import median
from typing import Any, Final

from barnabas.pipeline.report.marks import marks
from barnabas.pipeline.report.parts import Drawn, Plot, Results, Row, Said, Table, rest, rows
from barnabas.pipeline.report.plotting import MOST, PALETTE, grid, label, moment, time_axis
from barnabas.pipeline.report.rises import Rise, rise
from barnabas.pipeline.report.sections.latency import drawn, known, weight, words
from barnabas.pipeline.report.wording import clock, duration, name

MEASURES: Final = {"p99": "p99_ms", "p50": "p50_ms"}
"""By what the reader chooses."""

SAID: Final = 5
"""Rises that are said, the highest ones; the table has all."""

Series = tuple[str, str, int | None]
"""API, client, broker."""


def draw(results: Results) -> Drawn:
    """A line and a row for each client, broker and API, with what rose in front."""
    by_series: defaultdict[Series, list[Row]] = defaultdict(list)
    for row in rows(results, "latency_clients"):
        by_series[row["api"], name(row["client_id"]), row["broker"]].append(row)
    rises = {one: found for one in by_series if (found := rise(one[0], by_series[one]))}
    ranked = sorted(by_series, key=lambda one: (*_worst(rises.get(one)), -_count(by_series[one])))
    said = [
        Said("odd", f"{client}, {api} to {broker_name(broker)}: {found.text}", _of(found))
        for (api, client, broker), found in sorted(rises.items(), key=lambda one: _worst(one[1]))
    ]
    remarks = rest(len(said) - SAID, "more p99 rose: the first rows of the table")
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
    table = _table([_row(one, by_series[one], rises.get(one)) for one in ranked])
    return Drawn(said[:SAID], [_plot(ranked, by_series, rises)], [table], remarks)


def broker_name(broker: int | None) -> str:
    """A broker; its node id is not known where a client asks first."""
    return "an unknown broker" if broker is None else f"broker {broker}"


def _worst(found: Rise | None) -> tuple[bool, float]:
    """What rose highest first."""
    return found is None, -(found.worst["p99_ms"] if found else 0)


def _count(found: Sequence[Row]) -> int:
    return sum(row["count"] for row in found)


def _of(found: Rise) -> dict[str, Any]:
    return marks({**found.worst, "start": found.since, "end": found.until})


def _plot(
    ranked: Sequence[Series], by_series: dict[Series, list[Row]], rises: Collection[Series]
) -> Plot:
    times = grid(row["bucket"] for one in ranked for row in by_series[one])
    traces, of = [], []
    for measure, column in MEASURES.items():
        for api, client, broker in ranked:
            by_time = {row["bucket"]: row for row in by_series[api, client, broker]}
            # a hole is a single place, however long it is
            places = zip([None, *times], times, strict=False)
            at_all = [at for before, at in places if at in by_time or before in by_time]
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
            of.append(marks({"client_id": client}))
    layout: dict[str, Any] = {
        "colorway": PALETTE,  # by place, so that those that the filter leaves differ
        "xaxis": time_axis(),
        "yaxis": {"type": "log", "title": {"text": "ms"}, "tickformat": "~g"},
        "hovermode": "x unified",
    }
    title = "Latency by client, broker and API"
    return Plot(title, traces, layout, 440, tuple(MEASURES), of, MOST)


def _row(series: Series, found: Sequence[Row], rose: Rise | None) -> dict[str, Any]:
    api, client, broker = series
    p99 = known(found, "p99_ms")
    worst = max(found, key=lambda row: row["p99_ms"] or 0)
    return {
        "client_id": client,
        "broker": "unknown" if broker is None else str(broker),
        "api": api,
        "count": _count(found),
        "p50": median(known(found, "p50_ms") or [0]),
        "usual": median(p99 or [0]),
        "p99": max(p99, default=None),
        "broker_p99": worst["broker_p99_ms"],
        "at": clock(worst["bucket"]),
        "rose": f"{clock(rose.since)} to {clock(rose.until)}" if rose else None,
    }


def _table(found: Sequence[Row]) -> Table:
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
    return Table(columns, found, dict.fromkeys(("p50", "usual", "p99", "broker_p99"), duration))
