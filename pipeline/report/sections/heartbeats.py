"""The heartbeats of members, compared with session timeouts."""

from __future__ import annotations

from typing import Any, Final

from barnabas.pipeline.report.marks import each, marks
from barnabas.pipeline.report.parts import Content, Plot, Results, Row, Statement, Table, rest, rows
from barnabas.pipeline.report.plotting import AMBER, GREEN, RED, bars_height, member, names_axis
from barnabas.pipeline.report.wording import duration, name

MOST: Final = 25

NEAR: Final = 0.66
"""The share of the session without a heartbeat from which on one more lost heartbeat removes the member."""


def draw(results: Results) -> Content:
    """Draw the longest silence of each member as a share of its session."""
    member_rows = sorted(rows(results, "heartbeats"), key=lambda row: -(row["share"] or 0))
    drawn_rows = [row for row in member_rows if row["share"] is not None][:MOST]
    trace = {
        "type": "bar",
        "orientation": "h",
        "showlegend": False,
        "marker": {"color": [_colour(row) for row in drawn_rows]},
        "y": [member(row) for row in drawn_rows],
        "x": [row["share"] for row in drawn_rows],
        "customdata": [
            [duration(row["max_gap_ms"]), duration(row["session_timeout_ms"])] for row in drawn_rows
        ],
        "hovertemplate": "%{y}<br>silent for %{customdata[0]} of %{customdata[1]}<extra></extra>",
    }
    layout: dict[str, Any] = {
        "xaxis": {"tickformat": ".0%", "rangemode": "tozero"},
        "yaxis": names_axis([member(row) for row in drawn_rows]),
        "shapes": [
            {
                "type": "line",
                "yref": "paper",
                "y0": 0,
                "y1": 1,
                "x0": 1,
                "x1": 1,
                "line": {"color": RED, "width": 2, "dash": "dot"},
            }
        ],
    }
    plot = Plot(
        "Longest silence as share of the session timeout",
        [trace],
        layout,
        bars_height(len(drawn_rows)),
        of=[each(drawn_rows)],
    )
    remarks = rest(
        len(member_rows) - len(drawn_rows),
        "members with shorter silences, or with an unknown session timeout, are in the table only",
    )
    columns = {
        "group": "group",
        "client_id": "client",
        "protocol": "protocol",
        "member": "member",
        "heartbeats": "heartbeats",
        "session_timeout_ms": "session timeout",
        "max_gap_ms": "longest silence",
        "share": "of the session timeout",
        "expired": "expired",
    }
    table = Table(columns, member_rows, {"share": "{:.0%}".format})
    plots = [plot] if drawn_rows else []
    return Content(
        [_statement(row) for row in member_rows if _late(row)][:5], plots, [table], remarks
    )


def _late(row: Row) -> bool:
    return bool(row["expired"] or (row["share"] or 0) >= NEAR)


def _statement(row: Row) -> Statement:
    of = f"{duration(row['max_gap_ms'])} of a session of {duration(row['session_timeout_ms'])}"
    if row["expired"]:
        text = f"group {row['group']}: the session of {name(row['client_id'])} expired ({of})"
        return Statement("bad", text, marks(row))
    text = f"group {row['group']}: {name(row['client_id'])} was silent for {of}"
    return Statement("odd", text, marks(row))


def _colour(row: Row) -> str:
    if row["expired"]:
        return RED
    return AMBER if _late(row) else GREEN
