"""The table as one page of HTML, which needs nothing else: filters, and what is behind each cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import Final

from barnabas.experiments.clients.cell import Cell
from barnabas.experiments.clients.table import UNJUDGED, by_workload, cell_of, said
from barnabas.experiments.clients.trial import Trial

_PARTS: Final = Path(__file__).parent / "static"


def page(cells: Iterable[Cell], folder: Path) -> str:
    """The page. folder: where the evidence is, as it is named there."""
    cells = list(cells)
    words = sorted({cell.verdict.word for cell in cells})
    clients = sorted({cell.client for cell in cells})
    parts = [
        _select("word", "any verdict", words),
        _select("client", "any client", clients),
        *_tables(cells),
        *(_detail(cell, folder) for cell in cells),
    ]
    css, script = ((_PARTS / name).read_text() for name in ("page.css", "page.js"))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>Clients under faults</title><style>{css}</style></head>\n"
        f"<body><main><h1>Clients under faults</h1>\n{''.join(parts)}\n</main>"
        f"<script>{script}</script></body></html>\n"
    )


def _select(name: str, every: str, values: Iterable[str]) -> str:
    options = "".join(f"<option>{escape(value)}</option>" for value in values)
    return f'<select name="{name}" aria-label="{name}"><option value="">{every}</option>{options}</select>\n'


def _tables(cells: list[Cell]) -> Iterator[str]:
    for workload, clients, rows in by_workload(cells):
        yield f"<h2>{escape(workload)}</h2>\n<table><thead><tr><th>scenario</th>"
        yield "".join(f'<th data-client="{escape(one)}">{escape(one)}</th>' for one in clients)
        yield "</tr></thead>\n"
        for scenario, _ in rows:
            yield f'<tr><th scope="row">{escape(scenario)}</th>'
            for client in clients:
                yield _link(client, cell_of(cells, client, workload, scenario))
            yield "</tr>\n"
        yield "</table>\n"


def _link(client: str, cell: Cell | None) -> str:
    if cell is None:
        return f'<td data-client="{escape(client)}"></td>'
    about = f'data-client="{escape(client)}" data-word="{escape(cell.verdict.word)}" class="{_kind(cell)}"'
    return f'<td {about}><a href="#{escape(cell.name)}">{escape(said(cell))}</a></td>'


def _kind(cell: Cell) -> str:
    word = cell.verdict.word
    if word in UNJUDGED or not cell.verdict.promised:
        return "open"
    return word if word in ("fine", "slow") else "bad"


def _detail(cell: Cell, folder: Path) -> str:
    trials = "".join(
        _trial(one, folder / "cells" / cell.name / str(number))
        for number, one in enumerate(cell.trials)
    )
    again = f"barnabas clients rerun {cell.name} --out {folder}"
    return (
        f'<details id="{escape(cell.name)}"><summary>{escape(cell.name)}: {escape(said(cell))}</summary>'
        f"<p>{escape(cell.verdict.why)}</p><p>{escape(cell.broker)}; again: <code>{escape(again)}</code></p>"
        f"<ul>{trials}</ul></details>\n"
    )


def _trial(one: Trial, place: Path) -> str:
    ended = "its time was up" if one.code is None else f"exit code {one.code}"
    lines = [
        f"seed {one.seed}: {ended} after {one.seconds:.1f} s; the rules fired {one.fired} times",
        *([f"raised {one.raised}"] if one.raised else []),
        *(f"{found.kind}: {found.text}" for found in one.findings),
        *(f"breaks the protocol: {what}" for what in one.broken),
    ]
    text = "<br>".join(map(escape, lines))
    return f"<li>{text}<br><code>{escape(str(place))}</code></li>"
