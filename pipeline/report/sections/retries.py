"""Retry storms: clients that repeat a failing request again and again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from barnabas.pipeline.report.grouping import grouped
from barnabas.pipeline.report.parts import STATEMENTS, Content, Plot, Row, Statement, rest, table_of
from barnabas.pipeline.report.plotting import TIME_AXIS, bars, by_name, colours, moment
from barnabas.pipeline.report.wording import client, clock, duration, ms_between, name

MOST: Final = 30

MANY: Final = 50
"""A storm with this many attempts is an error, not only a warning."""


def draw(storms: Sequence[Row]) -> Content:
    """Draw a bar for each storm, from its beginning to its end."""
    by_error = grouped(storms[:MOST], lambda row: name(row["error"]))
    traces = [
        bars(
            [_request(row) for row in by_error[error]],
            [max(_ms(row), 1.0) for row in by_error[error]],
            base=[moment(row["start"]) for row in by_error[error]],
            name=error,
            marker={"color": colour},
            customdata=[[f"{row['attempts']:,}", duration(_ms(row))] for row in by_error[error]],
            hovertemplate="%{y}<br>%{customdata[0]} attempts in %{customdata[1]}",
        )
        for error, colour in colours(by_error).items()
    ]
    layout, height = by_name(
        map(_request, storms[:MOST]), TIME_AXIS, barmode="overlay", showlegend=True
    )
    plot = Plot("Retry storms", traces, layout, height, rows=[*by_error.values()])
    statements = [
        Statement("error" if row["attempts"] >= MANY else "warning", _text(row), [row])
        for row in storms[:STATEMENTS]
    ]
    table = table_of(storms, "client_id, api, error, start, end, attempts, rate: a second")
    remarks = rest(len(storms) - MOST, "smaller storm")
    return Content(statements, [plot], [table], remarks)


def _text(row: Row) -> str:
    return (
        f"{client(row)} tried {row['api']} {row['attempts']:,} times in"
        f" {duration(_ms(row))} from {clock(row['start'])}: {name(row['error'])}"
    )


def _request(row: Row) -> str:
    return f"{client(row)} {row['api']}"


def _ms(row: Row) -> float:
    return ms_between(row["start"], row["end"])
