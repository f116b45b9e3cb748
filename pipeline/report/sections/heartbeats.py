"""Heartbeats against session timeouts."""

from __future__ import annotations

from typing import Any, Final

from barnabas.pipeline.report.marks import each, marks
from barnabas.pipeline.report.parts import Drawn, Plot, Results, Row, Said, Table, rest, rows
from barnabas.pipeline.report.plotting import AMBER, GREEN, RED, bars_height, member, names_axis
from barnabas.pipeline.report.wording import duration, name

MOST: Final = 25

NEAR: Final = 0.66
"""Of the session without a heartbeat: one that is lost more, and the member is out."""


def draw(results: Results) -> Drawn:
    """The longest silence of each member as a share of its session."""
    found = sorted(rows(results, "heartbeats"), key=lambda row: -(row["share"] or 0))
    shown = [row for row in found if row["share"] is not None][:MOST]
    trace = {
        "type": "bar",
        "orientation": "h",
        "showlegend": False,
        "marker": {"color": [_colour(row) for row in shown]},
        "y": [member(row) for row in shown],
        "x": [row["share"] for row in shown],
        "customdata": [
            [duration(row["max_gap_ms"]), duration(row["session_timeout_ms"])] for row in shown
        ],
        "hovertemplate": "%{y}<br>silent for %{customdata[0]} of %{customdata[1]}<extra></extra>",
    }
    layout: dict[str, Any] = {
        "xaxis": {"tickformat": ".0%", "rangemode": "tozero"},
        "yaxis": names_axis([member(row) for row in shown]),
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
        bars_height(len(shown)),
        of=[each(shown)],
    )
    remarks = rest(
        len(found) - len(shown),
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
    table = Table(columns, found, {"share": "{:.0%}".format})
    plots = [plot] if shown else []
    return Drawn([_said(row) for row in found if _late(row)][:5], plots, [table], remarks)


def _late(row: Row) -> bool:
    return bool(row["expired"] or (row["share"] or 0) >= NEAR)


def _said(row: Row) -> Said:
    of = f"{duration(row['max_gap_ms'])} of a session of {duration(row['session_timeout_ms'])}"
    if row["expired"]:
        text = f"group {row['group']}: the session of {name(row['client_id'])} expired ({of})"
        return Said("bad", text, marks(row))
    text = f"group {row['group']}: {name(row['client_id'])} was silent for {of}"
    return Said("odd", text, marks(row))


def _colour(row: Row) -> str:
    if row["expired"]:
        return RED
    return AMBER if _late(row) else GREEN
