"""The table of cells, in Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from barnabas.experiments.clients.cell import CONTROL, Cell
from barnabas.experiments.clients.wording import UNJUDGED, said
from barnabas.experiments.clients.workloads import WORKLOADS, find

ASKED_WITH: Final = "*asked with*"
"""The row with what clients are set to."""


class Table(NamedTuple):
    """Of a workload. rows: of each scenario its name, and a cell for each client, None if there is none.
    unmet: the scenarios whose rules had nothing to do with any client. settings: what each client asked with
    when there were no faults."""

    workload: str
    clients: list[str]
    rows: list[tuple[str, list[Cell | None]]]
    unmet: list[str]
    settings: list[str]


def tables(cells: Iterable[Cell]) -> Iterator[Table]:
    """A table for each workload; the first row is without faults."""
    known: dict[str, dict[tuple[str, str], Cell]] = {}
    for cell in cells:
        known.setdefault(cell.workload, {})[cell.scenario, cell.client] = cell
    for workload in (one.name for one in WORKLOADS if one.name in known):
        found = known[workload]
        clients = sorted({client for _, client in found})
        names = sorted({name for name, _ in found}, key=lambda one: (one != CONTROL, one))
        words: dict[str, set[str]] = {}
        for (name, _), cell in found.items():
            words.setdefault(name, set()).add(cell.verdict.word)
        met = {name for name, seen in words.items() if seen - {*UNJUDGED} or "not met" not in seen}
        rows = [
            (name, [found.get((name, one)) for one in clients]) for name in names if name in met
        ]
        unmet = [name for name in names if name not in met]
        settings = [_settings(found.get((CONTROL, one))) for one in clients]
        yield Table(workload, clients, rows, unmet, settings)


def heading(workload: str) -> str:
    """What a workload does, as a sentence.

    >>> heading("produce")
    "A producer sends records, with the library's defaults."
    """
    what = find(workload).what
    return f"{what[0].upper()}{what[1:]}."


def without(unmet: Sequence[str]) -> str:
    """Scenarios that are no rows, in a sentence."""
    return f"No client asked what the rules are about of {', '.join(unmet)}."


def _settings(control: Cell | None) -> str:
    return control.trials[0].settings if control is not None and control.trials else ""


def counts(cells: Iterable[Cell]) -> Counter[str]:
    """How many cells each word is said of; those without faults are not counted."""
    return Counter(cell.verdict.word for cell in cells if cell.scenario != CONTROL)


def findings(cells: Iterable[Cell]) -> list[Cell]:
    """Those in which a client did not do as it promised; of one that was slow a busy machine says nothing."""
    return [
        cell
        for cell in cells
        if cell.verdict.promised
        and cell.verdict.word not in ("fine", *UNJUDGED)
        and not (cell.verdict.word == "slow" and cell.verdict.busy)
    ]


def markdown(cells: Iterable[Cell]) -> str:
    """The tables, and what is behind each cell that is not fine."""
    cells = list(cells)
    lines = []
    for workload, clients, rows, unmet, settings in tables(cells):
        brokers = sorted({cell.broker for cell in cells if cell.workload == workload})
        lines += [f"## {workload}", "", f"{heading(workload)} Brokers: {', '.join(brokers)}.", ""]
        lines += [f"| scenario | {' | '.join(clients)} |", "|---" * (1 + len(clients)) + "|"]
        if any(settings):
            lines.append(f"| {ASKED_WITH} | {' | '.join(settings)} |")
        for name, row in rows:
            texts = ("" if cell is None else said(cell) for cell in row)
            lines.append(f"| {name} | {' | '.join(texts)} |")
        lines += ["", without(unmet), ""] if unmet else [""]
    whys = [cell for cell in cells if cell.verdict.why and cell.verdict.word != "not met"]
    if whys:
        lines += ["## Why", ""]
        lines += [f"- {cell.name}: {said(cell)}: {_plain(cell.verdict.why)}" for cell in whys]
        lines.append("")
    return "\n".join(lines)


def _plain(text: str) -> str:
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())
