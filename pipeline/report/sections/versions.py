"""The versions in use, and those that a newer Kafka rejects."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, Final

from barnabas.pipeline.report.marks import each, together
from barnabas.pipeline.report.parts import Content, Plot, Results, Row, Statement, Table, rest, rows
from barnabas.pipeline.report.plotting import GREY, RED, bars_height, most, names_axis
from barnabas.pipeline.report.wording import listed, name

CLIENTS: Final = 25


def draw(results: Results) -> Content:
    """Draw a matrix of clients and APIs; red marks versions that an upgrade removes."""
    version_rows = rows(results, "versions")
    counts: Counter[str] = Counter()
    apis: Counter[str] = Counter()
    for row in version_rows:
        counts[_client(row)] += row["count"]
        apis[row["api"]] += row["count"]
    old = [row for row in version_rows if row["removed_in"]]
    clients = most(counts, CLIENTS)
    for row in old:  # show every client with a problem, however few requests it sent
        if _client(row) not in clients:
            clients.append(_client(row))
    clients = clients[: 2 * CLIENTS]
    remarks = rest(len(counts) - len(clients), "clients are in the table only")
    layout: dict[str, Any] = {
        "xaxis": {
            "type": "category",
            "categoryorder": "array",
            "categoryarray": most(apis, len(apis)),
            "tickangle": -40,
            "automargin": True,
        },
        "yaxis": names_axis(clients),
    }
    traces = [
        trace
        for trace in (
            _marks(
                "still offered",
                GREY,
                [row for row in version_rows if not row["removed_in"]],
                clients,
            ),
            _marks("removed", RED, old, clients),
        )
        if trace["x"]
    ]
    marks_of_traces = [each([{"client_id": client} for client in trace["y"]]) for trace in traces]
    plot = Plot(
        "Versions by client", traces, layout, 120 + bars_height(len(clients)), of=marks_of_traces
    )
    return Content(_statements(old), [plot], [_table(version_rows)], remarks)


def _client(row: Row) -> str:
    return name(row["client_id"])


def _marks(
    title: str, colour: str, version_rows: Sequence[Row], clients: Sequence[str]
) -> dict[str, Any]:
    """Return a trace with a mark for each client and API, which shows all of their versions."""
    cells: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in version_rows:
        if _client(row) in clients:
            cells[_client(row), row["api"]].append(row)
    return {
        "type": "scatter",
        "mode": "markers+text",
        "name": title,
        "marker": {"symbol": "square", "size": 30, "color": colour, "opacity": 0.85},
        "textfont": {"color": "#ffffff", "size": 10},
        "x": [api for _, api in cells],
        "y": [client for client, _ in cells],
        "text": [_range({row["version"] for row in cell_rows}) for cell_rows in cells.values()],
        "customdata": [
            [
                f"{sum(row['count'] for row in cell_rows):,}",
                listed(row["software"] for row in cell_rows),
                listed(f"removed in {row['removed_in']}" for row in cell_rows if row["removed_in"]),
            ]
            for cell_rows in cells.values()
        ],
        "hovertemplate": "%{y}: %{x} v%{text}<br>%{customdata[0]} times, %{customdata[1]}"
        "<br>%{customdata[2]}<extra></extra>",
    }


def _range(versions: set[int]) -> str:
    low, high = min(versions), max(versions)
    return str(low) if low == high else f"{low}–{high}"


def _statements(old: Sequence[Row]) -> list[Statement]:
    by_release: defaultdict[str, list[Row]] = defaultdict(list)
    for row in old:
        by_release[str(row["removed_in"])].append(row)
    return [
        Statement(
            "bad",
            f"Kafka {release} no longer supports versions that {listed(map(_client, release_rows))} use: "
            f"{listed(map(_version, release_rows))}",
            together(release_rows),
        )
        for release, release_rows in sorted(by_release.items())
    ]


def _table(version_rows: Sequence[Row]) -> Table:
    columns = {
        "client_id": "client",
        "software": "software",
        "api": "API",
        "version": "version",
        "count": "exchanges",
        "removed_in": "removed in",
        "last_ts": "last seen",
    }
    ranked = sorted(version_rows, key=lambda row: (not row["removed_in"], -row["count"]))
    return Table(columns, ranked)


def _version(row: Row) -> str:
    return f"{row['api']} v{row['version']}"
