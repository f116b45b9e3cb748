"""The number of a client's requests in flight."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from barnabas.pipeline.report.grouping import grouped, most, present
from barnabas.pipeline.report.parts import Content, Plot, Row, rest, table_of
from barnabas.pipeline.report.plotting import (
    MOST,
    colours,
    counts_axis,
    grid,
    label,
    line,
    over_time,
)
from barnabas.pipeline.report.wording import client

MEASURES: Final = {"deepest": "depth_max", "mean": "depth_mean"}
"""The reader's choices."""


def draw(buckets: Sequence[Row], all_clients: Sequence[Row]) -> Content:
    """Draw a line for each client: the highest value of its connections."""
    by_client = grouped(buckets, client)
    deepest = Counter(
        {name: max(present(rows, "depth_max"), default=0) for name, rows in by_client.items()}
    )
    clients = most(deepest, MOST)
    colour_of = colours(clients)
    times = grid(row["bucket"] for row in buckets)
    traces = []
    for measure, column in MEASURES.items():
        for name in clients:
            depths = {row["bucket"]: row[column] for row in by_client[name]}
            traces.append(
                line(
                    label(name),
                    times,
                    [depths.get(at) for at in times],
                    line={"shape": "hv", "width": 2, "color": colour_of[name]},
                    meta=measure,
                    hovertemplate="%{y:.3~g}",
                )
            )
    layout = over_time(
        counts_axis(max(deepest.values()), title={"text": "requests in flight"}),
    )
    trace_rows = [{"client_id": name} for _ in MEASURES for name in clients]
    plot = Plot("Requests in flight", traces, layout, 340, tuple(MEASURES), trace_rows)
    table = table_of(all_clients, "client_id, depth_max: most in flight at once")
    remaining = len(all_clients) - len(clients)
    remarks = rest(remaining, "client", " with fewer in flight")
    return Content(plots=[plot], tables=[table], remarks=remarks)
