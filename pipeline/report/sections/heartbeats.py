"""The heartbeats of members, compared with session timeouts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from barnabas.pipeline.report.parts import Content, Plot, Row, Statement, rest, table_of
from barnabas.pipeline.report.plotting import AMBER, GREEN, RED, bars, by_name
from barnabas.pipeline.report.wording import client, duration, member, percent

MOST: Final = 25

STATEMENTS: Final = 5
"""The most statements: those about the longest silences."""

NEAR: Final = 0.66
"""The share of the session without a heartbeat from which on one more lost heartbeat removes the member."""

TIMEOUT: Final[dict[str, Any]] = {
    "type": "line",
    "yref": "paper",
    "y0": 0,
    "y1": 1,
    "x0": 1,
    "x1": 1,
    "line": {"color": RED, "width": 2, "dash": "dot"},
}
"""The line at the session timeout."""


def draw(members: Sequence[Row]) -> Content:
    """Draw the longest silence of each member as a share of its session."""
    late = [row for row in members if _is_late(row)]
    drawn_rows = [row for row in members if row["share"] is not None][:MOST]
    names = [member(row) for row in drawn_rows]
    trace = bars(
        names,
        [row["share"] for row in drawn_rows],
        showlegend=False,
        marker={"color": [_colour(row) for row in drawn_rows]},
        customdata=[
            [duration(row["max_gap_ms"]), duration(row["session_timeout_ms"])] for row in drawn_rows
        ],
        hovertemplate="%{y}<br>silent for %{customdata[0]} of %{customdata[1]}<extra></extra>",
    )
    title = "Longest silence as share of the session timeout"
    axis = {"tickformat": ".0%", "rangemode": "tozero"}
    layout, height = by_name(names, axis, shapes=[TIMEOUT])
    plots = [Plot(title, [trace], layout, height, rows=[drawn_rows])] if drawn_rows else []
    remarks = rest(
        len(members) - len(drawn_rows),
        "member",
        " with shorter silences, or with an unknown session timeout,",
    )
    table = table_of(
        members,
        "group, client_id, protocol, member, heartbeats, session_timeout_ms: session timeout, "
        "max_gap_ms: longest silence, share: of the session timeout, expired",
        {"share": percent},
    )
    return Content([_statement(row) for row in late[:STATEMENTS]], plots, [table], remarks)


def _is_late(row: Row) -> bool:
    return bool(row["expired"] or (row["share"] or 0) >= NEAR)


def _statement(row: Row) -> Statement:
    silence = f"{duration(row['max_gap_ms'])} of a session of {duration(row['session_timeout_ms'])}"
    if row["expired"]:
        text = f"group {row['group']}: the session of {client(row)} expired ({silence})"
        return Statement("error", text, [row])
    return Statement(
        "warning", f"group {row['group']}: {client(row)} was silent for {silence}", [row]
    )


def _colour(row: Row) -> str:
    if row["expired"]:
        return RED
    return AMBER if _is_late(row) else GREEN
