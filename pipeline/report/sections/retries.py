"""Retry storms: clients that repeat a failing request again and again."""

from __future__ import annotations

from typing import Any, Final

from barnabas.pipeline.report.marks import each, marks
from barnabas.pipeline.report.parts import Content, Plot, Results, Row, Statement, Table, rest, rows
from barnabas.pipeline.report.plotting import (
    bars_height,
    colours,
    moment,
    names_axis,
    time_axis,
)
from barnabas.pipeline.report.wording import clock, duration, name, utc

MOST: Final = 30

MANY: Final = 50
"""A storm with this many attempts is bad, not only odd."""


def draw(results: Results) -> Content:
    """Draw a bar for each storm, from its beginning to its end."""
    storms_by_size = sorted(rows(results, "retries"), key=lambda row: -row["attempts"])
    drawn_rows = storms_by_size[:MOST]
    errors = colours(name(row["error"]) for row in drawn_rows)
    by_error = {
        error: [row for row in drawn_rows if name(row["error"]) == error] for error in errors
    }
    traces = [
        {
            "type": "bar",
            "orientation": "h",
            "name": error,
            "marker": {"color": errors[error]},
            "base": [moment(row["start"]) for row in storms],
            "x": [max(_ms(row), 1.0) for row in storms],
            "y": [_who(row) for row in storms],
            "customdata": [[f"{row['attempts']:,}", duration(_ms(row))] for row in storms],
            "hovertemplate": "%{y}<br>%{customdata[0]} attempts in %{customdata[1]}",
        }
        for error, storms in by_error.items()
    ]
    names = [*dict.fromkeys(map(_who, drawn_rows))]
    layout: dict[str, Any] = {
        "barmode": "overlay",
        "xaxis": time_axis(),
        "yaxis": names_axis(names),
        "showlegend": True,
    }
    marks_of_traces = [each(storms) for storms in by_error.values()]
    plot = Plot("Retry storms", traces, layout, bars_height(len(names)), of=marks_of_traces)
    statements = [
        Statement(
            "bad" if row["attempts"] >= MANY else "odd",
            f"{name(row['client_id'])} tried {row['api']} {row['attempts']:,} times in"
            f" {duration(_ms(row))} from {clock(row['start'])}: {name(row['error'])}",
            marks(row),
        )
        for row in storms_by_size[:3]
    ]
    columns = {
        "client_id": "client",
        "api": "API",
        "error": "error",
        "start": "from",
        "end": "until",
        "attempts": "attempts",
        "rate": "a second",
    }
    remarks = rest(len(storms_by_size) - MOST, "smaller storms are in the table only")
    return Content(statements, [plot], [Table(columns, storms_by_size)], remarks)


def _who(row: Row) -> str:
    return f"{name(row['client_id'])} {row['api']}"


def _ms(row: Row) -> float:
    return (utc(row["end"]) - utc(row["start"])).total_seconds() * 1000
