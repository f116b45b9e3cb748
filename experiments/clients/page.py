"""The table as one self-contained page of HTML, with filters and a page for each cell."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator
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
    is_unstable,
    reasons,
    rerun_command,
    severity,
    trial_lines,
    word_text,
)
from barnabas.look.html import (
    Script,
    html_badge,
    html_code,
    html_facts,
    html_figures,
    html_page,
    html_text,
)
from barnabas.plural import plural

_PARTS: Final = Path(__file__).parent / "static"

TITLE: Final = "Clients under faults"

LINES: Final = 50
"""Lines of a cell's timelines."""

COLOURS: Final = {
    "fine": "as expected",
    "warning": "slower",
    "error": "unexpected",
    "open": "neither for nor against the client",
}
"""The legend of the colours, by severity."""


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
    css, script = ((_PARTS / name).read_text("utf-8") for name in ("page.css", "page.js"))
    counts = Counter[str](map(severity, listed))
    body = (
        '<div class="overview">',
        f"<h1>{TITLE}</h1>",
        f'<p class="lead">{html_text(_lead(listed, counts))}</p>',
        f'<p class="when">{html_text(_about(cells))}</p>',
        *html_figures(_figures(listed, counts)),
        *_tools(listed),
        '<p id="none" class="none" hidden>No cell matches.</p>',
        *(line for table in workload_tables for line in _table(table)),
        "</div>",
        '<p class="remark" hidden><a class="back" href="#?">← all cells</a></p>',
        *(line for cell in listed for line in _cell_page(cell, folder)),
    )
    return html_page(TITLE, "clients", body, style=css, scripts=[Script(script, module=True)])


def _lead(cells: list[Cell], counts: Counter[str]) -> str:
    """Return the table in a sentence."""
    clients = len({cell.client for cell in cells})
    results = ", ".join(f"{counts[name]} {text}" for name, text in COLOURS.items() if counts[name])
    return (
        f"{plural(len(cells), 'cell')} of {plural(clients, 'client')}{results and ': '}{results}."
    )


def _about(cells: list[Cell]) -> str:
    """Return brokers, clients, trials and dates, in sentences."""
    brokers = ", ".join(sorted({cell.broker for cell in cells}))
    clients = ", ".join(sorted({cell.client for cell in cells}))
    trials = max((len(cell.trials) for cell in cells), default=0)
    text = f"Brokers: {brokers}. Clients: {clients}. Trials of a cell: up to {trials}."
    days = dates(cells)
    return f"{text} Run on {days}." if days else text


def _figures(cells: list[Cell], counts: Counter[str]) -> Iterator[tuple[str, str, bool]]:
    yield "clients", str(len({cell.client for cell in cells})), False
    yield "scenarios", str(len({cell.scenario for cell in cells})), False
    yield "cells", str(len(cells)), False
    for name in ("fine", "warning", "error"):
        yield COLOURS[name], str(counts[name]), name == "error" and counts[name] > 0
    if unstable := sum(is_unstable(cell.verdict) for cell in cells):
        yield UNSTABLE, str(unstable), False


def _tools(cells: list[Cell]) -> Iterator[str]:
    """Yield the filters and the legend."""
    words = sorted({word for cell in cells for word in _words(cell)})
    clients = sorted({cell.client for cell in cells})
    yield '<div class="tools"><div class="bar" role="search" aria-label="Filter of cells">'
    yield _select("word", "verdict", words)
    yield _select("client", "client", clients)
    yield '<output role="status"></output>'
    yield '<ul class="legend colours">'
    yield from (f'<li class="{name}">{html_text(text)}</li>' for name, text in COLOURS.items())
    yield "</ul></div></div>"
    meanings = {
        **{word_text(word): text for word, text in MEANINGS.items()},
        UNSTABLE: UNSTABLE_MEANING,
    }
    yield '<details class="fold words"><summary>What the words mean</summary>'
    yield from html_facts((word, text) for word, text in meanings.items() if word in words)
    yield "</details>"


def _select(name: str, label: str, values: Iterable[str]) -> str:
    options = (f'<option value="{value}">{value}</option>' for value in map(html_text, values))
    every = '<option value="">all</option>'
    return f'<label>{label} <select name="{name}">{every}{"".join(options)}</select></label>'


def _table(table: Table) -> Iterator[str]:
    workload, clients, rows, unmet, settings = table
    name = html_text(workload)
    yield f'<section class="panel" id="workload-{name}"><h2>{name}</h2>'
    yield f'<p class="remark">{html_text(heading(workload))}</p>'
    yield f'<div class="table cells" tabindex="0" role="group" aria-label="Cells of {name}">'
    names = "".join(f'<th scope="col">{html_text(client)}</th>' for client in clients)
    yield f'<table><thead><tr><th scope="col">scenario</th>{names}</tr>'
    setting_cells = "".join(f"<td>{html_text(text)}</td>" for text in settings)
    yield f'<tr class="with"><th scope="row">asked with</th>{setting_cells}</tr></thead><tbody>'
    for scenario, row in rows:
        cells = "".join(map(_link, row))
        yield f'<tr><th scope="row">{html_text(scenario)}</th>{cells}</tr>'
    yield "</tbody></table></div>"
    for sentence in omitted_scenarios(unmet):
        yield f'<p class="remark">{html_text(sentence)}</p>'
    yield "</section>"


def _link(cell: Cell | None) -> str:
    if cell is None:
        return "<td></td>"
    address = html_text(quote(cell.name, safe="/@"))
    link = f'<a href="#{address}">{html_text(cell_text(cell))}</a>'
    return f'<td {_word_attribute(cell)} class="{severity(cell)}">{link}</td>'


def _words(cell: Cell) -> list[str]:
    words = [word_text(each.word) for each in cell.verdict.observations]
    return [*words, UNSTABLE] if is_unstable(cell.verdict) else words


def _word_attribute(cell: Cell) -> str:
    """Return an attribute with the words of a cell, by which the page's script filters."""
    return f'data-word="{html_text("|".join(_words(cell)))}"'


def _cell_page(cell: Cell, folder: Path) -> Iterator[str]:
    """Yield a cell's page: the script shows it in place of the table."""
    bad = cell.verdict.word != "fine"
    yield f'<article class="cell" id="{html_text(cell.name)}">'
    subtitle = html_text(f"{cell.client}, {cell.workload}")
    yield f"<h1>{html_text(cell.scenario)} <small>{subtitle}</small></h1>"
    yield f"<p>{html_badge(severity(cell), cell_text(cell))}</p>"
    yield from (f'<p class="lead">{html_text(reason)}</p>' for reason in reasons(cell.verdict))
    facts = [("workload", heading(cell.workload)), ("broker", cell.broker)]
    if cell.ended is not None:
        facts.append(("run", f"{cell.ended:%Y-%m-%d %H:%M} UTC"))
    if healthy := healthy_of(folder, cell.name) if bad else "":
        facts.append(("a healthy client", healthy))
    yield '<section class="panel"><h2>Cell</h2>'
    yield from html_facts(facts)
    yield html_code(rerun_command(cell, folder), "Run again")
    yield "</section>"
    lines = LINES // max(len(cell.trials), 1) if bad else 0
    for number in range(len(cell.trials)):
        yield from _trial(cell, folder, number, lines)
    yield "</article>"


def _trial(cell: Cell, folder: Path, number: int, limit: int) -> Iterator[str]:
    evidence_folder = evidence(folder, cell.name, number)
    yield f'<section class="panel"><h2>Trial {number + 1} of {len(cell.trials)}</h2><ul>'
    for line in trial_lines(cell.trials[number], workloads.find(cell.workload)):
        yield f"<li>{html_text(line)}</li>"
    yield "</ul>"
    lines = timeline(evidence_folder, max(limit, 3)) if limit else []
    if lines:
        yield html_code("\n".join(lines), "Timeline")
    address = html_text(quote(os.path.relpath(evidence_folder)))
    link = f'<a href="{address}/">{html_text(str(evidence_folder))}</a>'
    yield f'<p class="remark">Evidence: {link}</p>'
    command = shlex.join(["barnabas", "decode", str(evidence_folder / CAPTURE)])
    yield html_code(command, "Decode")
    yield "</section>"
