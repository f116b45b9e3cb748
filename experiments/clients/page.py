"""The table as one self-contained page of HTML, with filters and the details of each cell."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Final
from urllib.parse import quote

from barnabas.experiments.clients import workloads
from barnabas.experiments.clients.cell import Cell
from barnabas.experiments.clients.folder import evidence, healthy_of
from barnabas.experiments.clients.publication import dates
from barnabas.experiments.clients.table import Table, heading, omitted_scenarios, tables
from barnabas.experiments.clients.timeline import timeline
from barnabas.experiments.clients.trial import CAPTURE
from barnabas.experiments.clients.wording import (
    MEANINGS,
    UNSTABLE,
    UNSTABLE_MEANING,
    cell_text,
    colour_class,
    is_unstable,
    reasons,
    rerun_command,
    trial_lines,
    word_text,
)

_PARTS: Final = Path(__file__).parent / "static"

LINES: Final = 50
"""Lines of a cell's timelines."""


def page(cells: Iterable[Cell], folder: Path) -> str:
    """Return the page. folder: has the evidence; links to it are relative to the current folder."""
    cells = list(cells)
    workload_tables = list(tables(cells))
    listed = [
        cell
        for table in workload_tables
        for _, row in table.rows
        for cell in row
        if cell is not None
    ]
    words = sorted({word for cell in listed for word in _words(cell)})
    meanings = {
        **{word_text(word): text for word, text in MEANINGS.items()},
        UNSTABLE: UNSTABLE_MEANING,
    }
    clients = sorted({cell.client for cell in cells})
    parts = [
        f"<p>{escape(_about(cells))}</p>\n",
        _legend({word: text for word, text in meanings.items() if word in words}),
        _select("word", "any verdict", {word: word for word in words}),
        _select("client", "any client", {client: client for client in clients}),
        '<p id="none" hidden>No cell matches.</p>\n',
        *map(_table, workload_tables),
        "<section><h2>Cells</h2>\n",
        *(_detail(cell, folder) for cell in listed),
        "</section>\n",
    ]
    css, script = ((_PARTS / name).read_text() for name in ("page.css", "page.js"))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>Clients under faults</title><style>{css}</style></head>\n"
        f"<body><main><h1>Clients under faults</h1>\n{''.join(parts)}\n</main>"
        f"<script>{script}</script></body></html>\n"
    )


def _about(cells: list[Cell]) -> str:
    """Return brokers, clients, trials and dates, in sentences."""
    brokers = ", ".join(sorted({cell.broker for cell in cells}))
    clients = ", ".join(sorted({cell.client for cell in cells}))
    trials = max((len(cell.trials) for cell in cells), default=0)
    text = f"Brokers: {brokers}. Clients: {clients}. Trials of a cell: up to {trials}."
    days = dates(cells)
    return f"{text} Run on {days}." if days else text


def _legend(meanings: Mapping[str, str]) -> str:
    lines = "".join(
        f"<dt>{escape(word)}</dt><dd>{escape(meaning)}</dd>" for word, meaning in meanings.items()
    )
    return f"<details><summary>What the words mean</summary><dl>{lines}</dl></details>\n"


def _select(name: str, every: str, labels: Mapping[str, str]) -> str:
    options = "".join(
        f'<option value="{escape(value)}">{escape(label)}</option>'
        for value, label in labels.items()
    )
    return f'<select name="{name}" aria-label="{name}"><option value="">{every}</option>{options}</select>\n'


def _table(table: Table) -> str:
    return "".join(_pieces(table))


def _pieces(table: Table) -> Iterator[str]:
    workload, clients, rows, unmet, settings = table
    yield f"<section><h2>{escape(workload)}</h2>\n<p>{escape(heading(workload))}</p>\n"
    yield '<table tabindex="0"><thead><tr><th>scenario</th>'
    yield "".join(f'<th data-client="{escape(client)}">{escape(client)}</th>' for client in clients)
    yield "</tr><tr><th>asked with</th>"
    columns = zip(clients, settings, strict=True)
    yield "".join(
        f'<td class="with" data-client="{escape(client)}">{escape(text)}</td>'
        for client, text in columns
    )
    yield "</tr></thead>\n<tbody>"
    for scenario, row in rows:
        yield f'<tr><th scope="row">{escape(scenario)}</th>'
        yield "".join(map(_link, clients, row))
        yield "</tr>\n"
    yield "</tbody></table>\n"
    yield from (f"<p>{escape(sentence)}</p>\n" for sentence in omitted_scenarios(unmet))
    yield "</section>\n"


def _link(client: str, cell: Cell | None) -> str:
    attributes = f'data-client="{escape(client)}"'
    if cell is None:
        return f"<td {attributes}></td>"
    attributes += f' {_word_attribute(cell)} class="{colour_class(cell)}"'
    return f'<td {attributes}><a href="#{escape(cell.name)}">{escape(cell_text(cell))}</a></td>'


def _words(cell: Cell) -> list[str]:
    words = [word_text(each.word) for each in cell.verdict.observations]
    return [*words, UNSTABLE] if is_unstable(cell.verdict) else words


def _word_attribute(cell: Cell) -> str:
    """Return an attribute with the words of a cell, by which the page's script filters."""
    return f'data-word="{escape("|".join(_words(cell)))}"'


def _detail(cell: Cell, folder: Path) -> str:
    parts = [f"<p>{escape(reason)}</p>" for reason in reasons(cell.verdict)]
    bad = cell.verdict.word != "fine"
    healthy = healthy_of(folder, cell.name) if bad else ""
    if healthy:
        parts.append(f"<p>A healthy client: {escape(healthy)}</p>")
    trials = "".join(
        _trial(cell, folder, number, LINES // len(cell.trials) if bad else 0)
        for number in range(len(cell.trials))
    )
    return (
        f'<details id="{escape(cell.name)}" data-client="{escape(cell.client)}" '
        f"{_word_attribute(cell)}><summary>{escape(cell.name)}: "
        f"{escape(cell_text(cell))}</summary>{''.join(parts)}"
        f"<p>{escape(cell.broker)}; again: <code>{escape(rerun_command(cell, folder))}</code></p>"
        f"<ul>{trials}</ul></details>\n"
    )


def _trial(cell: Cell, folder: Path, number: int, limit: int) -> str:
    evidence_folder = evidence(folder, cell.name, number)
    link = f'<a href="{escape(quote(os.path.relpath(evidence_folder)))}/">{escape(str(evidence_folder))}</a>'
    look = shlex.join(["barnabas", "decode", str(evidence_folder / CAPTURE)])
    lines = timeline(evidence_folder, max(limit, 3)) if limit else []
    happened = f"<pre>{escape(chr(10).join(lines))}</pre>" if lines else ""
    description = "<br>".join(
        map(escape, trial_lines(cell.trials[number], workloads.find(cell.workload)))
    )
    return f"<li>{description}{happened}<br>{link}<br><code>{escape(look)}</code></li>"
