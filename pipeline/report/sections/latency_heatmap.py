"""How latencies are spread, over time."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from barnabas.pipeline.report.parts import Drawn, Plot, Results, rows
from barnabas.pipeline.report.plotting import grid, moment, most
from barnabas.pipeline.report.wording import duration

ALL, OTHERS = "all APIs", "others"

APIS: Final = 5
"""So many APIs have a heatmap of their own, the others one together."""

PER_OCTAVE: Final = 2
"""Ranges of latency between one and its double, as the analysis has them."""


def draw(results: Results) -> Drawn:
    """A column a time, a row a range of latency; the colour is how many exchanges took as long."""
    found = rows(results, "latency_heatmap")
    counts: Counter[str] = Counter()
    cells: defaultdict[str, Counter[tuple[datetime, int]]] = defaultdict(Counter)
    for row in found:
        at = (row["bucket"], _octaves(row["latency_ms"]))
        counts[row["api"]] += row["count"]
        cells[ALL][at] += row["count"]
        cells[row["api"]][at] += row["count"]
    named = most(Counter({api: count for api, count in counts.items() if api != OTHERS}))
    choices = (ALL, *named, *([OTHERS] if OTHERS in counts else []))
    times = grid(bucket for bucket, _ in cells[ALL])
    known = [bound for _, bound in cells[ALL]]
    bounds = range(min(known), max(known) + 1)
    traces = [_heatmap(one, times, bounds, cells[one]) for one in choices]
    layout: dict[str, Any] = {
        "xaxis": {"type": "date"},
        "yaxis": {"type": "category", "automargin": True},
    }
    plot = Plot("How long exchanges took", traces, layout, 400, choices)
    return Drawn(plots=[plot])


def _octaves(bound_ms: float) -> int:
    """Which range it is the upper bound of."""
    return round(math.log2(bound_ms) * PER_OCTAVE)


def _heatmap(
    name: str,
    times: Sequence[datetime],
    bounds: Sequence[int],
    cells: Counter[tuple[datetime, int]],
) -> dict[str, Any]:
    counts = [[cells[time, bound] or None for time in times] for bound in bounds]
    # by its logarithm, else the usual would hide the rare
    colours = [[None if count is None else math.log10(count) for count in row] for row in counts]
    highest = max((one for row in colours for one in row if one), default=0.0)
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
