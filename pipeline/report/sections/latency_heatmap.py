"""How latencies are spread, over time."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import Any

from pipeline.report.parts import Drawn, Plot, Results, cut, rows
from pipeline.report.plotting import moment, most
from pipeline.report.wording import duration

ALL = "all APIs"
APIS = 5
"""So many APIs have a heatmap of their own."""


def draw(results: Results) -> Drawn:
    """A column a time, a row a range of latency; the colour is how many exchanges took as long."""
    found = rows(results, "latency_heatmap")
    counts: Counter[str] = Counter()
    cells: defaultdict[str, Counter[tuple[str, float]]] = defaultdict(Counter)
    for row in found:
        at = (moment(row["bucket"]), float(row["latency_ms"]))
        counts[row["api"]] += row["count"]
        cells[ALL][at] += row["count"]
        cells[row["api"]][at] += row["count"]
    choices = (ALL, *most(counts, APIS))
    times = sorted({bucket for bucket, _ in cells[ALL]})
    bounds = sorted({bound for _, bound in cells[ALL]})
    traces = [_heatmap(one, times, bounds, cells[one]) for one in choices]
    layout: dict[str, Any] = {
        "xaxis": {"type": "date"},
        "yaxis": {"type": "category", "automargin": True},
    }
    plot = Plot("How long exchanges took", traces, layout, 400, choices)
    return Drawn(plots=[plot], remarks=[*cut(results, "latency_heatmap")])


def _heatmap(
    name: str, times: list[str], bounds: list[float], cells: Counter[tuple[str, float]]
) -> dict[str, Any]:
    counts = [[cells[time, bound] or None for time in times] for bound in bounds]
    # by its logarithm, else the usual would hide the rare
    colours = [[None if count is None else math.log10(count) for count in row] for row in counts]
    powers = range(1 + int(max((one for row in colours for one in row if one), default=0)))
    return {
        "type": "heatmap",
        "meta": name,
        "name": name,
        "x": times,
        "y": [f"≤ {duration(bound)}" for bound in bounds],
        "z": colours,
        "customdata": counts,
        "zmin": 0,
        "xgap": 1,
        "ygap": 1,
        "hoverongaps": False,
        "colorbar": {
            "title": {"text": "exchanges"},
            "tickvals": [*powers],
            "ticktext": [f"{10**power:,}" for power in powers],
            "thickness": 12,
        },
        "hovertemplate": "%{x}<br>%{y}: %{customdata:,}<extra></extra>",
    }
