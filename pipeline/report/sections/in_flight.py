"""How many requests of a client were under way at once."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import datetime
from typing import Any, Final

from barnabas.pipeline.report.marks import marks
from barnabas.pipeline.report.parts import Drawn, Plot, Results, Table, rest, rows
from barnabas.pipeline.report.plotting import (
    colours,
    counts_axis,
    grid,
    label,
    moment,
    most,
    time_axis,
)
from barnabas.pipeline.report.wording import name

MEASURES: Final = {"deepest": "depth_max", "mean": "depth_mean"}
"""By what the reader chooses."""


def draw(results: Results) -> Drawn:
    """A line a client: the deepest of its connections."""
    found = rows(results, "in_flight")
    deepest: Counter[str] = Counter()
    lines: defaultdict[tuple[str, str], dict[datetime, float]] = defaultdict(dict)
    for row in found:
        client, at = name(row["client_id"]), row["bucket"]
        for measure, column in MEASURES.items():
            if row[column] is not None:
                line = lines[client, measure]
                line[at] = max(row[column], line.get(at, 0))
        deepest[client] = max(deepest[client], row["depth_max"] or 0)
    clients = most(deepest)
    colour_of = colours(clients)
    times = grid(row["bucket"] for row in found)
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "marker": {"size": 5},
            "line": {"shape": "hv", "width": 2, "color": colour_of[client]},
            "name": label(client),
            "meta": measure,
            "x": [moment(at) for at in times],
            "y": [lines[client, measure].get(at) for at in times],
            "hovertemplate": "%{y:.3~g}",
        }
        for measure in MEASURES
        for client in clients
    ]
    layout: dict[str, Any] = {
        "xaxis": time_axis(),
        "yaxis": counts_axis(max(deepest.values()), title={"text": "requests in flight"}),
        "hovermode": "x unified",
    }
    columns = {"client_id": "client", "depth_max": "most in flight at once"}
    table = Table(columns, rows(results, "in_flight_clients"))
    others = len(table.rows) - len(clients)
    remarks = rest(others, "clients with fewer in flight are in the table only")
    of = [marks({"client_id": client}) for _ in MEASURES for client in clients]
    plot = Plot("Requests in flight", traces, layout, 340, tuple(MEASURES), of)
    return Drawn(plots=[plot], tables=[table], remarks=remarks)
