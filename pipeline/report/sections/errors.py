"""Errors in responses, by client and over time."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from barnabas.captures.kafka.normal_errors import is_normal
from barnabas.pipeline.report.grouping import counted, most
from barnabas.pipeline.report.parts import Content, Plot, Row, Statement, rest, table_of
from barnabas.pipeline.report.plotting import (
    MOST,
    bars,
    by_name,
    colours,
    counts_axis,
    moment,
    over_time,
)
from barnabas.pipeline.report.wording import client, clock_span, listed
from barnabas.plural import plural

CLIENTS = 15


def draw(errors: Sequence[Row], errors_over_time: Sequence[Row]) -> Content:
    """Draw bars by client, bars over time, and a table of all errors."""
    by_client, by_error = counted(errors, client), counted(errors, itemgetter("error"))
    by_both = counted(errors, lambda row: (client(row), row["error"]))
    by_time = counted(errors_over_time, lambda row: (moment(row["bucket"]), row["error"]))
    clients, names = most(by_client, CLIENTS), most(by_error, MOST)
    moments = sorted({at for at, _ in by_time})
    of_clients, of_times = [], []
    for error, colour in colours(names).items():
        style = {"name": error, "marker": {"color": colour}}
        counts = [by_both[name, error] or None for name in clients]
        of_clients.append(bars(clients, counts, hovertemplate="%{y}: %{x:,}", **style))
        counts = [by_time[at, error] or None for at in moments]
        of_times.append(
            {"type": "bar", "x": moments, "y": counts, "hovertemplate": "%{y:,}", **style}
        )
    axis = counts_axis(max(by_client.values()), title={"text": "errors"})
    layout, height = by_name(clients, axis, barmode="stack")
    client_rows = [{"client_id": name} for name in clients]
    time_layout = over_time(counts_axis(max(by_time.values(), default=0)), barmode="stack")
    plots = (
        Plot("Errors by client", of_clients, layout, height, rows=[client_rows] * len(names)),
        Plot("Errors over time", of_times, time_layout, 280),
    )
    faults = [row for row in errors if not is_normal(row["api"], row["error"])]
    (name,) = most(counted(faults or errors, client), 1)
    of_first = [row for row in faults or errors if client(row) == name]
    start, end = (row["first_ts"] for row in of_first), (row["last_ts"] for row in of_first)
    span = clock_span({"start": min(start), "end": max(end)})
    by_own = counted(of_first, itemgetter("error"))
    counts_of_errors = listed(f"{by_own[error]:,} {error}" for error in most(by_own))
    total = by_error.total()
    text = (
        f"{name}: {counts_of_errors} in responses, {span}; "
        f"{total:,} error{'s' * (total > 1)} of {plural(len(by_client), 'client')} in all"
    )
    remarks = rest(len(by_client) - len(clients), "client", " with fewer errors", "not drawn")
    table = table_of(errors, "client_id, api, error, count, first_ts: first, last_ts: last")
    return Content(
        [Statement("warning" if faults else "fine", text, errors)], plots, [table], remarks
    )
