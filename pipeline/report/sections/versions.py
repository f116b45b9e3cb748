"""Versions in use, and those that a newer Kafka refuses."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, Final

from barnabas.pipeline.report.marks import each, together
from barnabas.pipeline.report.parts import Drawn, Plot, Results, Row, Said, Table, rest, rows
from barnabas.pipeline.report.plotting import GREY, RED, bars_height, most, names_axis
from barnabas.pipeline.report.wording import listed, name

CLIENTS: Final = 25


def draw(results: Results) -> Drawn:
    """A matrix of clients and APIs; red is what an upgrade would break."""
    found = rows(results, "versions")
    counts: Counter[str] = Counter()
    apis: Counter[str] = Counter()
    for row in found:
        counts[_client(row)] += row["count"]
        apis[row["api"]] += row["count"]
    old = [row for row in found if row["removed_in"]]
    clients = most(counts, CLIENTS)
    for row in old:  # who has a problem is seen, however little it said
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
            _marks("still offered", GREY, [row for row in found if not row["removed_in"]], clients),
            _marks("removed", RED, old, clients),
        )
        if trace["x"]
    ]
    of = [each([{"client_id": client} for client in trace["y"]]) for trace in traces]
    plot = Plot("Versions by client", traces, layout, 120 + bars_height(len(clients)), of=of)
    return Drawn(_said(old), [plot], [_table(found)], remarks)


def _client(row: Row) -> str:
    return name(row["client_id"])


def _marks(title: str, colour: str, found: Sequence[Row], clients: Sequence[str]) -> dict[str, Any]:
    """A mark for each client and API; several versions of one stand in one mark."""
    cells: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in found:
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
        "text": [_range({row["version"] for row in some}) for some in cells.values()],
        "customdata": [
            [
                f"{sum(row['count'] for row in some):,}",
                listed(row["software"] for row in some),
                listed(f"removed in {row['removed_in']}" for row in some if row["removed_in"]),
            ]
            for some in cells.values()
        ],
        "hovertemplate": "%{y}: %{x} v%{text}<br>%{customdata[0]} times, %{customdata[1]}"
        "<br>%{customdata[2]}<extra></extra>",
    }


def _range(versions: set[int]) -> str:
    low, high = min(versions), max(versions)
    return str(low) if low == high else f"{low}–{high}"


def _said(old: Sequence[Row]) -> list[Said]:
    by_release: defaultdict[str, list[Row]] = defaultdict(list)
    for row in old:
        by_release[str(row["removed_in"])].append(row)
    return [
        Said(
            "bad",
            f"Kafka {release} no longer supports versions that {listed(map(_client, some))} use: "
            f"{listed(map(_version, some))}",
            together(some),
        )
        for release, some in sorted(by_release.items())
    ]


def _table(found: Sequence[Row]) -> Table:
    columns = {
        "client_id": "client",
        "software": "software",
        "api": "API",
        "version": "version",
        "count": "exchanges",
        "removed_in": "removed in",
        "last_ts": "last seen",
    }
    ranked = sorted(found, key=lambda row: (not row["removed_in"], -row["count"]))
    return Table(columns, ranked)


def _version(row: Row) -> str:
    return f"{row['api']} v{row['version']}"
