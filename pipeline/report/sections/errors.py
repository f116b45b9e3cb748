"""Errors in responses, by client and over time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from barnabas.pipeline.report.marks import each, together
from barnabas.pipeline.report.parts import Content, Plot, Results, Row, Statement, Table, rest, rows
from barnabas.pipeline.report.plotting import (
    bars_height,
    colours,
    counts_axis,
    moment,
    most,
    names_axis,
    time_axis,
)
from barnabas.pipeline.report.wording import listed, name

CLIENTS = 15


def draw(results: Results) -> Content:
    """Draw bars by client, bars over time, and a table of all errors."""
    error_rows = rows(results, "errors")
    by_client: Counter[str] = Counter()
    by_error: Counter[str] = Counter()
    cells: Counter[tuple[str, str]] = Counter()
    times: Counter[tuple[str, str]] = Counter()
    for row in error_rows:
        client, error, count = name(row["client_id"]), row["error"], row["count"]
        by_client[client] += count
        by_error[error] += count
        cells[client, error] += count
    for row in rows(results, "errors_over_time"):
        times[moment(row["bucket"]), row["error"]] += row["count"]
    clients, errors = most(by_client, CLIENTS), most(by_error)
    colour_of = colours(errors)
    bars = [
        {
            "type": "bar",
            "orientation": "h",
            "name": error,
            "marker": {"color": colour_of[error]},
            "y": clients,
            "x": [cells[client, error] or None for client in clients],
            "hovertemplate": "%{y}: %{x:,}",
        }
        for error in errors
    ]
    moments = sorted({at for at, _ in times})
    over_time = [
        {
            "type": "bar",
            "name": error,
            "marker": {"color": colour_of[error]},
            "x": moments,
            "y": [times[at, error] or None for at in moments],
            "hovertemplate": "%{y:,}",
        }
        for error in errors
    ]
    by_clients: dict[str, Any] = {
        "barmode": "stack",
        "xaxis": counts_axis(max(by_client.values()), title={"text": "errors"}),
        "yaxis": names_axis(clients),
    }
    plots = (
        Plot(
            "Errors by client",
            bars,
            by_clients,
            bars_height(len(clients)),
            of=[each([{"client_id": client} for client in clients])] * len(bars),
        ),
        Plot(
            "Errors over time",
            over_time,
            {
                "barmode": "stack",
                "xaxis": time_axis(),
                "yaxis": counts_axis(max(times.values(), default=0)),
                "hovermode": "x unified",
            },
            280,
        ),
    )
    remarks = rest(len(by_client) - len(clients), "clients with fewer errors are not drawn")
    statement = Statement(
        "odd",
        f"{sum(by_error.values()):,} errors in responses: "
        f"{listed(by_error[error] and f'{by_error[error]:,} {error}' for error in most(by_error))}",
        together(error_rows),
    )
    return Content([statement], plots, [_table(error_rows)], remarks)


def _table(error_rows: Sequence[Row]) -> Table:
    columns = {
        "client_id": "client",
        "api": "API",
        "error": "error",
        "count": "count",
        "first_ts": "first",
        "last_ts": "last",
    }
    return Table(columns, error_rows)
