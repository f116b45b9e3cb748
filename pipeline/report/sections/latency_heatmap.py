"""The distribution of latencies over time."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from barnabas.pipeline.report.parts import Content, Plot, Results, rows
from barnabas.pipeline.report.plotting import grid, moment, most
from barnabas.pipeline.report.wording import duration

ALL, OTHERS = "all APIs", "others"

APIS: Final = 5
"""The number of APIs with a heatmap of their own; the others share one."""

PER_OCTAVE: Final = 2
"""Latency ranges per factor of two, as in the analysis."""


def draw(results: Results) -> Content:
    """Draw a column for each time and a row for each latency range; colour is the number of exchanges."""
    cell_rows = rows(results, "latency_heatmap")
    counts: Counter[str] = Counter()
    cells: defaultdict[str, Counter[tuple[datetime, int]]] = defaultdict(Counter)
    for row in cell_rows:
        at = (row["bucket"], _octaves(row["latency_ms"]))
        counts[row["api"]] += row["count"]
        cells[ALL][at] += row["count"]
        cells[row["api"]][at] += row["count"]
    named = most(Counter({api: count for api, count in counts.items() if api != OTHERS}))
    choices = (ALL, *named, *([OTHERS] if OTHERS in counts else []))
    times = grid(bucket for bucket, _ in cells[ALL])
    indexes = [bound for _, bound in cells[ALL]]
    bounds = range(min(indexes), max(indexes) + 1)
    traces = [_heatmap(choice, times, bounds, cells[choice]) for choice in choices]
    layout: dict[str, Any] = {
        "xaxis": {"type": "date"},
        "yaxis": {"type": "category", "automargin": True},
    }
    plot = Plot("How long exchanges took", traces, layout, 400, choices)
    return Content(plots=[plot])


def _octaves(bound_ms: float) -> int:
    """Return the index of the range with this upper bound."""
    return round(math.log2(bound_ms) * PER_OCTAVE)


def _heatmap(
    name: str,
    times: Sequence[datetime],
    bounds: Sequence[int],
    cells: Counter[tuple[datetime, int]],
) -> dict[str, Any]:
    counts = [[cells[time, bound] or None for time in times] for bound in bounds]
    # logarithmic, so that frequent latencies do not hide rare ones
    colours = [[None if count is None else math.log10(count) for count in row] for row in counts]
    highest = max((exponent for row in colours for exponent in row if exponent), default=0.0)
    powers = range(1 + int(highest))
    return {
        "type": "heatmap",
        "meta": name,
        "name": name,
        "x": [moment(time) for time in times],
        "y": [f"≤ {duration(2 ** (bound / PER_OCTAVE))}" for bound in bounds],
        "z": colours,
        "customdata": counts,
        "zmin": 0,
        "zmax": max(highest, 1.0),
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
