"""The distribution of latencies over time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any, Final

from barnabas.captures.summary.heat_map import PER_OCTAVE
from barnabas.pipeline.report.grouping import counted, grouped, most
from barnabas.pipeline.report.parts import Content, Plot, Row
from barnabas.pipeline.report.plotting import grid, moment
from barnabas.pipeline.report.wording import duration

ALL, OTHERS = "all APIs", "others"

APIS: Final = 5
"""The number of APIs with a heatmap of their own; the others share one."""


def draw(cell_rows: Sequence[Row]) -> Content:
    """Draw a column for each time and a row for each latency range; colour is the number of exchanges."""
    by_api = grouped(cell_rows, itemgetter("api"))
    named = counted((row for row in cell_rows if row["api"] != OTHERS), itemgetter("api"))
    choices = (ALL, *most(named), *([OTHERS] if OTHERS in by_api else []))
    times = grid(row["bucket"] for row in cell_rows)
    octaves = [_octaves(row) for row in cell_rows]
    bounds = range(min(octaves), max(octaves) + 1)
    traces = [
        _heatmap(
            choice,
            times,
            bounds,
            counted(by_api.get(choice, cell_rows), lambda row: (row["bucket"], _octaves(row))),
        )
        for choice in choices
    ]
    layout = {"xaxis": {"type": "date"}, "yaxis": {"type": "category", "automargin": True}}
    return Content(plots=[Plot("How long exchanges took", traces, layout, 400, choices)])


def _octaves(row: Row) -> int:
    """Return the index of the range with this upper bound."""
    return round(math.log2(row["latency_ms"]) * PER_OCTAVE)


def _heatmap(
    name: str,
    times: Sequence[datetime],
    bounds: Sequence[int],
    cells: Mapping[tuple[datetime, int], int],
) -> dict[str, Any]:
    counts = [[cells.get((time, bound)) or None for time in times] for bound in bounds]
    # logarithmic, so that frequent latencies do not hide rare ones
    colours = [[None if count is None else math.log10(count) for count in row] for row in counts]
    highest = math.log10(max(cells.values()))
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
