"""Rebalances of each group: who joined, who was late, how long delivery stood still."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from barnabas.pipeline.report.parts import Drawn, Plot, Results, Row, Said, Table, cut, rows
from barnabas.pipeline.report.plotting import (
    AMBER,
    BLUE,
    GREEN,
    GREY,
    RED,
    bars_height,
    member,
    moment,
    names_axis,
    time_axis,
)
from barnabas.pipeline.report.wording import duration, listed, name, utc

PHASES: Final = {"join": AMBER, "sync": BLUE, "consuming": GREEN, "stopped": GREY}
"""In the order of the legend."""

GROUPS, MEMBERS = 6, 30
"""What is drawn of many."""

LONG_MS: Final = 10_000
"""A standstill of so long is bad, not only odd."""


def draw(results: Results) -> Drawn:
    """A Gantt chart a group; a table with a row for each member and generation."""
    found = rows(results, "rebalances")
    groups: defaultdict[str, list[Row]] = defaultdict(list)
    for row in found:
        groups[name(row["group"])].append(row)
    ranked = sorted(groups, key=lambda group: (-len(groups[group]), group))
    remarks = [*cut(results, "rebalances")]
    if len(ranked) > GROUPS:
        remarks.append(f"{len(ranked) - GROUPS} groups with less to show are in the table only")
    plots = []
    for group in ranked[:GROUPS]:
        members = [*dict.fromkeys(map(member, groups[group]))]
        if len(members) > MEMBERS:
            remarks.append(f"{group}: {len(members) - MEMBERS} members are in the table only")
        plots.append(_gantt(group, groups[group], members[:MEMBERS]))
    return Drawn([*_said(groups)], plots, [_table(found)], remarks)


def _gantt(group: str, found: Sequence[Row], members: Sequence[str]) -> Plot:
    shown = [row for row in found if member(row) in members and row["start"] and row["end"]]
    traces: list[dict[str, Any]] = []
    for phase, colour in PHASES.items():
        bars = [row for row in shown if row["phase"] == phase]
        if bars:
            traces.append(_bars(phase, colour, bars))
    late = [row for row in shown if row["late"] and row["phase"] == "join"]
    if late:
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": "late",
                "marker": {"symbol": "diamond", "size": 11, "color": RED, "line": {"width": 1}},
                "x": [moment(row["end"]) for row in late],
                "y": [member(row) for row in late],
                "customdata": [duration(row["join_ms"]) for row in late],
                "hovertemplate": "%{y}<br>late: joined after %{customdata}<extra></extra>",
            }
        )
    layout = {
        "barmode": "overlay",
        "xaxis": time_axis(),
        "yaxis": names_axis(members),
        "shapes": [*_standstills(shown)],
        "bargap": 0.35,
    }
    return Plot(f"Group {group}", traces, layout, bars_height(len(members)))


def _bars(phase: str, colour: str, found: Sequence[Row]) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "name": phase,
        "marker": {"color": colour},
        "base": [moment(row["start"]) for row in found],
        "x": [_ms(row["start"], row["end"]) for row in found],
        "y": [member(row) for row in found],
        "customdata": [
            [row["generation"], duration(_ms(row["start"], row["end"])), row["reason"] or ""]
            for row in found
        ],
        "hovertemplate": f"%{{y}}<br>{phase} %{{customdata[1]}}, generation %{{customdata[0]}}"
        "<br>%{customdata[2]}<extra></extra>",
    }


def _standstills(found: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """Of each generation, from the first who joined until the last knew its partitions: a band."""
    spans: dict[tuple[Any, Any], tuple[datetime, float]] = {}
    for row in found:
        if row["joined_ts"] and row["group_standstill_ms"]:
            key = (row["capture"], row["generation"])
            first = min(spans[key][0], row["joined_ts"]) if key in spans else row["joined_ts"]
            spans[key] = (first, row["group_standstill_ms"])
    for start, lasted in spans.values():
        yield {
            "type": "rect",
            "yref": "paper",
            "y0": 0,
            "y1": 1,
            "x0": moment(start),
            "x1": moment(start + timedelta(milliseconds=lasted)),
            "fillcolor": RED,
            "opacity": 0.14,
            "line": {"width": 0},
            "layer": "below",
        }


def _ms(start: datetime, end: datetime) -> float:
    return (utc(end) - utc(start)).total_seconds() * 1000


def _said(groups: dict[str, list[Row]]) -> Iterator[Said]:
    for group, found in groups.items():
        worst = max(found, key=lambda row: row["group_standstill_ms"] or 0)
        still = worst["group_standstill_ms"] or 0
        generations = {row["generation"] for row in found}
        late = [name(row["client_id"]) for row in found if row["late"]]
        gone = [*_gone(found)]
        if still <= 0 and not late and not gone:
            continue
        text = f"group {group}: {len(generations)} generation{'s' * (len(generations) > 1)}"
        if still > 0:
            text += f", delivery stopped for up to {duration(still)}"
            text += f" (generation {worst['generation']})"
        if late:
            text += f"; late: {listed(late)}"
        if gone:
            text += f"; {listed(gone)}"
        yield Said("bad" if still >= LONG_MS else "odd", text)


def _gone(found: Sequence[Row]) -> Iterator[str]:
    """Clients that went more than once, and the reasons that they or the coordinator gave."""
    reasons: defaultdict[str, list[str]] = defaultdict(list)
    for row in found:
        if row["phase"] == "stopped":
            reasons[name(row["client_id"])].append(name(row["reason"]))
    for client, given in reasons.items():
        if len(given) > 1:
            yield f"{client} left {len(given)} times ({listed(given)})"


def _table(found: Sequence[Row]) -> Table:
    columns = {
        "group": "group",
        "generation": "generation",
        "client_id": "client",
        "member": "member",
        "joined_ts": "joined",
        "join_ms": "join took",
        "sync_ms": "sync took",
        "late": "late",
        "standstill_ms": "the member stopped",
        "group_standstill_ms": "the group stopped",
        "reason": "reason",
        "stopped": "stopped",
    }
    once: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in found:
        key = (row["capture"], row["group"], row["generation"], row["member"], row["joined_ts"])
        shown = once.setdefault(key, {**row, "stopped": None})
        if row["phase"] == "stopped":
            shown["stopped"] = row["reason"]
    written = {name: duration for name in columns if name.endswith("_ms")}
    return Table(columns, [*once.values()], written)
