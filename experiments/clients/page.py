"""The table as one page of HTML, which needs nothing else: filters, and what is behind each cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import Final

from barnabas.experiments.clients.cell import Cell
from barnabas.experiments.clients.folder import evidence
from barnabas.experiments.clients.table import heading, tables, without
from barnabas.experiments.clients.wording import again, kind, said, told

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
    for workload, clients, rows, unmet, settings in tables(cells):
        yield f"<h2>{escape(workload)}</h2>\n<p>{escape(heading(workload))}</p>\n"
        yield "<table><thead><tr><th>scenario</th>"
        yield "".join(f'<th data-client="{escape(one)}">{escape(one)}</th>' for one in clients)
        yield "</tr><tr><th>asked with</th>"
        told = zip(clients, settings, strict=True)
        yield "".join(f'<td data-client="{escape(one)}">{escape(said)}</td>' for one, said in told)
        yield "</tr></thead>\n"
        for scenario, row in rows:
            yield f'<tr><th scope="row">{escape(scenario)}</th>'
            yield "".join(map(_link, clients, row))
            yield "</tr>\n"
        yield "</table>\n"
        if unmet:
            yield f"<p>{escape(without(unmet))}</p>\n"


def _link(client: str, cell: Cell | None) -> str:
    about = f'data-client="{escape(client)}"'
    if cell is None:
        return f"<td {about}></td>"
    about += f' data-word="{escape(cell.verdict.word)}" class="{kind(cell)}"'
    return f'<td {about}><a href="#{escape(cell.name)}">{escape(said(cell))}</a></td>'


def _detail(cell: Cell, folder: Path) -> str:
    trials = ""
    for number, one in enumerate(cell.trials):
        place = escape(str(evidence(folder, cell.name, number)))
        trials += f"<li>{'<br>'.join(map(escape, told(one)))}<br><code>{place}</code></li>"
    return (
        f'<details id="{escape(cell.name)}"><summary>{escape(cell.name)}: {escape(said(cell))}</summary>'
        f"<p>{escape(cell.verdict.why)}</p>"
        f"<p>{escape(cell.broker)}; again: <code>{escape(again(cell, folder))}</code></p>"
        f"<ul>{trials}</ul></details>\n"
    )
