"""The table of cells, in Markdown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from barnabas.experiments.clients.cell import CONTROL, Cell
from barnabas.experiments.clients.wording import UNJUDGED, said
from barnabas.experiments.clients.workloads import WORKLOADS, find

ASKED_WITH: Final = "*asked with*"
"""The row with what clients are set to."""

PRIVATE: Final = "differs"
"""Said in public of a cell in which a client may have a bug."""


class Table(NamedTuple):
    """Of a workload. rows: of each scenario its name, and a cell for each client, None if there is none.
    unmet: the scenarios of which no rule fired with any client, and in how many runs. settings: what each
    client asked with when there were no faults."""

    workload: str
    clients: list[str]
    rows: list[tuple[str, list[Cell | None]]]
    unmet: dict[str, int]
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
        unmet = {name: 0 for name in names if name not in met}
        for (name, _), cell in found.items():
            if name in unmet:
                unmet[name] += len(cell.trials)
        settings = [_settings(found.get((CONTROL, one))) for one in clients]
        yield Table(workload, clients, rows, unmet, settings)


def heading(workload: str) -> str:
    """What a workload does, as a sentence.

    >>> heading("produce")
    "A producer sends records, with the library's defaults."
    """
    what = find(workload).what
    return f"{what[0].upper()}{what[1:]}."


def without(unmet: Mapping[str, int]) -> str:
    """Scenarios that are no rows, in a sentence or two.

    >>> without({"clock-skew": 0, "lossy-network": 4})
    'No client asked what the rules are about of clock-skew. No rule fired of lossy-network in 4 runs.'
    """
    idle = [name for name, runs in unmet.items() if not runs]
    said = [f"No client asked what the rules are about of {', '.join(idle)}."] if idle else []
    said += [f"No rule fired of {name} in {runs} runs." for name, runs in unmet.items() if runs]
    return " ".join(said)


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
    lines = [*_tables(cells, said)]
    whys = [cell for cell in cells if cell.verdict.why and cell.verdict.word != "not met"]
    if whys:
        lines += ["## Why", ""]
        lines += [
            f"- {_plain(cell.name)}: {said(cell)}: {_plain(cell.verdict.why)}" for cell in whys
        ]
        lines.append("")
    return "\n".join(lines)


def public(cells: Iterable[Cell]) -> str:
    """The tables as they may be published: of what may be a bug that is not mended yet it is not said what it
    is, so that its project hears of it first (SECURITY.md)."""
    cells = list(cells)
    private = {cell.name for cell in findings(cells) if cell.verdict.word != "slow"}
    return "\n".join(_tables(cells, lambda cell: PRIVATE if cell.name in private else said(cell)))


def _tables(cells: list[Cell], words: Callable[[Cell], str]) -> Iterator[str]:
    """Lines of Markdown, and an empty one behind each table. words: of a cell. Who could not do anything is a
    sentence, and no column."""
    for table in tables(cells):
        brokers = sorted({cell.broker for cell in cells if cell.workload == table.workload})
        idle = dict(_idle(table))
        lines = [["scenario", *map(_plain, table.clients)]]
        if any(table.settings):
            lines.append([ASKED_WITH, *map(_plain, table.settings)])
        for name, row in table.rows:
            lines.append([_plain(name), *("" if cell is None else words(cell) for cell in row)])
        kept = [[text for at, text in enumerate(line) if at - 1 not in idle] for line in lines]
        yield from (
            f"## {table.workload}",
            "",
            f"{heading(table.workload)} Brokers: {_plain(', '.join(brokers))}.",
            "",
        )
        yield f"| {' | '.join(kept[0])} |"
        yield "|---" * len(kept[0]) + "|"
        yield from (f"| {' | '.join(line)} |" for line in kept[1:])
        said = [without(table.unmet)] if table.unmet else []
        said += [f"{table.clients[at]} was not run: {why}." for at, why in idle.items()]
        yield from ("", _plain(" ".join(said)), "") if said else ("",)


def _idle(table: Table) -> Iterator[tuple[int, str]]:
    """Clients none of whose cells were run, and why."""
    for at in range(len(table.clients)):
        found = [row[at] for _, row in table.rows]
        whys = {cell.verdict.why for cell in found if cell and cell.verdict.word == "not run"}
        if len(whys) == 1 and all(cell and cell.verdict.word == "not run" for cell in found):
            yield at, whys.pop()


def _plain(text: str) -> str:
    """As words, whatever Markdown or HTML makes of their signs."""
    text = re.sub(r"([\\|\[\]`*])", r"\\\1", text.replace("&", "&amp;").replace("<", "&lt;"))
    return " ".join(text.split())
