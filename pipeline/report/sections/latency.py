"""Latency over time, by API."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any, Final

from barnabas.pipeline.report.marks import marks
from barnabas.pipeline.report.parts import Drawn, Plot, Results, Row, Said, Table, rest, rows
from barnabas.pipeline.report.plotting import colours, grid, moment, most, time_axis
from barnabas.pipeline.report.rises import Rise, rise
from barnabas.pipeline.report.wording import duration

MEASURES: Final = {"p99": "p99_ms", "p50": "p50_ms", "max": "max_ms"}
"""By what the reader chooses."""

LEAST_DRAWN: Final = 0.01
"""ms; what the proxy answers itself may take less."""


def draw(results: Results) -> Drawn:
    """p50, p99 and the longest of each API; what rose far above its usual."""
    found = rows(results, "latency")
    counts: Counter[str] = Counter()
    for row in found:
        counts[row["api"]] += row["count"]
    apis = most(counts)
    of = colours(apis)
    by_place = {(row["api"], row["bucket"]): row for row in found}
    times = grid(row["bucket"] for row in found)
    rises = _rises(found)
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "marker": {"size": 5},
            **weight(api in rises, color=of[api]),
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
    return Drawn([*_said(rises)], [plot], [_table(found)], remarks)


def drawn(row: Row | None, column: str) -> float | None:
    """Nothing is drawn where nothing was; an axis of powers has no 0."""
    return None if row is None or row[column] is None else max(row[column], LEAST_DRAWN)


def words(row: Row | None, column: str) -> str:
    """What stands at a point."""
    return "" if row is None else f"{duration(row[column])}, of {row['count']:,}"


def weight(rose: bool, **line: str) -> dict[str, Any]:
    """Of a line: what rose is seen in front of what waits, as fetches do for records."""
    return {"line": {"width": 3 if rose else 1, **line}, "zorder": int(rose)}


def _said(rises: Mapping[str, Rise]) -> Iterator[Said]:
    for api, rose in rises.items():
        of = marks({"start": rose.since, "end": rose.until})
        yield Said("odd", f"{api}: {rose.text}", of)


def _rises(found: Sequence[Row]) -> dict[str, Rise]:
    by_api: defaultdict[str, list[Row]] = defaultdict(list)
    for row in found:
        by_api[row["api"]].append(row)
    return {api: rose for api, times in by_api.items() if (rose := rise(api, times))}


def _table(found: Sequence[Row]) -> Table:
    """An API a row, over all time: what can be said of it without the single exchanges."""
    by_api: defaultdict[str, list[Row]] = defaultdict(list)
    for row in found:
        by_api[row["api"]].append(row)
    said = [
        {
            "api": api,
            "count": sum(row["count"] for row in times),
            "p50": median(known(times, "p50_ms") or [math.nan]),
            "p99": max(known(times, "p99_ms"), default=None),
            "max": max(known(times, "max_ms"), default=None),
        }
        for api, times in by_api.items()
    ]
    said.sort(key=lambda row: (-int(str(row["count"])), str(row["api"])))
    columns = {
        "api": "API",
        "count": "exchanges",
        "p50": "p50 (median of the buckets)",
        "p99": "p99 (worst bucket)",
        "max": "longest",
    }
    return Table(columns, said, dict.fromkeys(("p50", "p99", "max"), duration))


def known(found: Sequence[Row], column: str) -> list[float]:
    """The values that are there."""
    return [row[column] for row in found if row[column] is not None]
