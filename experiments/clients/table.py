"""The table of cells: what is said of each, in Markdown and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

from barnabas.experiments.clients.cell import CONTROL, Cell, cell_name
from barnabas.experiments.clients.workloads import WORKLOADS

UNJUDGED: Final = ("not met", "not run")


def said(cell: Cell) -> str:
    """A cell in a few words.

    >>> from barnabas.experiments.clients.verdict import Verdict
    >>> made = {"client": "c", "workload": "w", "scenario": "s", "broker": "embedded"}
    >>> said(Cell(**made, verdict=Verdict(word="duplicates", times=2, of=3, promised=False)))
    'duplicates 2 of 3 (not promised)'
    """
    found = cell.verdict
    if found.word in UNJUDGED:
        return found.word
    text: str = found.word
    if found.times != found.of:
        text += f" {found.times} of {found.of}"
    if found.word == "slow":
        text += f" +{found.slower_ms / 1000:.1f} s" + (" (busy machine)" if found.busy else "")
    return text if found.promised else f"{text} (not promised)"


def by_workload(
    cells: Iterable[Cell],
) -> Iterator[tuple[str, list[str], list[tuple[str, list[str]]]]]:
    """Of each workload: its name, its clients, and its scenarios with a text for each client."""
    tables: dict[str, dict[tuple[str, str], Cell]] = {}
    for cell in cells:
        tables.setdefault(cell.workload, {})[cell.scenario, cell.client] = cell
    for workload in (one.name for one in WORKLOADS if one.name in tables):
        found = tables[workload]
        clients = sorted({client for _, client in found})
        scenarios = sorted(
            {scenario for scenario, _ in found}, key=lambda one: (one != CONTROL, one)
        )
        rows = [
            (name, [said(found[name, one]) if (name, one) in found else "" for one in clients])
            for name in scenarios
        ]
        yield workload, clients, rows


def cell_of(cells: Iterable[Cell], client: str, workload: str, scenario: str) -> Cell | None:
    """That cell, if it is there."""
    name = cell_name(client, workload, scenario)
    return next((cell for cell in cells if cell.name == name), None)


def counts(cells: Iterable[Cell]) -> Counter[str]:
    """How many cells each word is said of; those without faults are not counted."""
    return Counter(cell.verdict.word for cell in cells if cell.scenario != CONTROL)


def findings(cells: Iterable[Cell]) -> list[Cell]:
    """Those in which a client did not do as it promised."""
    return [
        cell
        for cell in cells
        if cell.verdict.promised and cell.verdict.word not in ("fine", *UNJUDGED)
    ]


def rows(cells: Iterable[Cell]) -> list[dict[str, Any]]:
    """In JSON form."""
    return [cell.model_dump(mode="json") for cell in cells]


def markdown(cells: Iterable[Cell]) -> str:
    """The tables, and what is behind each cell that is not fine."""
    cells = list(cells)
    lines = []
    for workload, clients, table in by_workload(cells):
        brokers = sorted({cell.broker for cell in cells if cell.workload == workload})
        lines += [f"## {workload}", "", f"Brokers: {', '.join(brokers)}.", ""]
        lines += [f"| scenario | {' | '.join(clients)} |", "|---" * (1 + len(clients)) + "|"]
        lines += [f"| {name} | {' | '.join(texts)} |" for name, texts in table]
        lines.append("")
    whys = [cell for cell in cells if cell.verdict.why]
    if whys:
        lines += ["## Why", ""]
        lines += [f"- {cell.name}: {said(cell)}: {_plain(cell.verdict.why)}" for cell in whys]
        lines.append("")
    return "\n".join(lines)


def _plain(text: str) -> str:
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())
