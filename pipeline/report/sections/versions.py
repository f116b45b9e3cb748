"""The versions in use, and those that a newer Kafka rejects."""

from __future__ import annotations

from collections.abc import Container, Sequence
from operator import itemgetter
from typing import Any, Final

from barnabas.pipeline.report.grouping import counted, grouped, most
from barnabas.pipeline.report.parts import Content, Plot, Row, Statement, rest, table_of
from barnabas.pipeline.report.plotting import GREY, RED, by_name, names_axis
from barnabas.pipeline.report.wording import client, listed

CLIENTS: Final = 25


def draw(versions: Sequence[Row]) -> Content:
    """Draw a matrix of clients and APIs; red marks versions that an upgrade removes."""
    counts, apis = counted(versions, client), counted(versions, itemgetter("api"))
    removed = [row for row in versions if row["removed_in"]]
    offered = [row for row in versions if not row["removed_in"]]
    # show every client with a problem, however few requests it sent
    clients = [*dict.fromkeys([*most(counts, CLIENTS), *map(client, removed)])][: 2 * CLIENTS]
    axis = {**names_axis(most(apis)), "tickangle": -40}
    layout, height = by_name(clients, axis)
    marks = (
        _marks("still offered", GREY, offered, clients),
        _marks("removed", RED, removed, clients),
    )
    traces = [trace for trace in marks if trace["x"]]
    rows = [[{"client_id": name} for name in trace["y"]] for trace in traces]
    plot = Plot("Versions by client", traces, layout, height + 120, rows=rows)
    remarks = rest(len(counts) - len(clients), "client")
    table = table_of(
        versions,
        "client_id, software, api, version, count: exchanges, removed_in, last_ts: last seen",
    )
    return Content(_statements(removed), [plot], [table], remarks)


def _marks(
    title: str, colour: str, versions: Sequence[Row], clients: Container[str]
) -> dict[str, Any]:
    """Return a trace with a mark for each client and API, which shows all of their versions."""
    cells = grouped(
        (row for row in versions if client(row) in clients), lambda row: (client(row), row["api"])
    )
    return {
        "type": "scatter",
        "mode": "markers+text",
        "name": title,
        "marker": {"symbol": "square", "size": 30, "color": colour, "opacity": 0.85},
        "textfont": {"color": "#ffffff", "size": 10},
        "x": [api for _, api in cells],
        "y": [name for name, _ in cells],
        "text": [_range([row["version"] for row in rows]) for rows in cells.values()],
        "customdata": [
            [
                f"{sum(row['count'] for row in rows):,}",
                listed(row["software"] for row in rows),
                listed(f"removed in {row['removed_in']}" for row in rows if row["removed_in"]),
            ]
            for rows in cells.values()
        ],
        "hovertemplate": "%{y}: %{x} v%{text}<br>%{customdata[0]} times, %{customdata[1]}"
        "<br>%{customdata[2]}<extra></extra>",
    }


def _range(versions: Sequence[int]) -> str:
    low, high = min(versions), max(versions)
    return str(low) if low == high else f"{low}–{high}"


def _statements(removed: Sequence[Row]) -> list[Statement]:
    by_release = grouped(removed, itemgetter("removed_in"))
    return [
        Statement(
            "error",
            f"Kafka {release} no longer supports versions that {listed(map(client, rows))} use: "
            + listed(f"{row['api']} v{row['version']}" for row in rows),
            rows,
        )
        for release, rows in sorted(by_release.items())
    ]
