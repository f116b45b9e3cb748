"""The number of a client's requests in flight."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import datetime
from typing import Any, Final

from barnabas.pipeline.report.marks import marks
from barnabas.pipeline.report.parts import Content, Plot, Results, Table, rest, rows
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
"""The reader's choices."""


def draw(results: Results) -> Content:
    """Draw a line for each client: the highest value of its connections."""
    bucket_rows = rows(results, "in_flight")
    deepest: Counter[str] = Counter()
    lines: defaultdict[tuple[str, str], dict[datetime, float]] = defaultdict(dict)
    for row in bucket_rows:
        client, at = name(row["client_id"]), row["bucket"]
        for measure, column in MEASURES.items():
            if row[column] is not None:
                line = lines[client, measure]
                line[at] = max(row[column], line.get(at, 0))
        deepest[client] = max(deepest[client], row["depth_max"] or 0)
    clients = most(deepest)
    colour_of = colours(clients)
    times = grid(row["bucket"] for row in bucket_rows)
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
    remaining = len(table.rows) - len(clients)
    remarks = rest(remaining, "clients with fewer in flight are in the table only")
    marks_of_traces = [marks({"client_id": client}) for _ in MEASURES for client in clients]
    plot = Plot("Requests in flight", traces, layout, 340, tuple(MEASURES), marks_of_traces)
    return Content(plots=[plot], tables=[table], remarks=remarks)
