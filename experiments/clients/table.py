"""The table of cells, in Markdown."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from barnabas.experiments.clients.cell import CONTROL, Cell
from barnabas.experiments.clients.wording import UNJUDGED, cell_text, label, reasons
from barnabas.experiments.clients.workloads import WORKLOADS, find

ASKED_WITH: Final = "*asked with*"
"""The row with the clients' settings."""

WIDTH: Final = 127
"""Characters of a line of Markdown text."""


class Table(NamedTuple):
    """The table of a workload.

    rows: a scenario's name and the cells of the clients (None: no cell). unmet: scenarios of which no rule
    fired with any client in any run, and the number of runs. settings: each client's settings without faults.
    """

    workload: str
    clients: list[str]
    rows: list[tuple[str, list[Cell | None]]]
    unmet: dict[str, int]
    settings: list[str]


def tables(cells: Iterable[Cell]) -> Iterator[Table]:
    """Yield a table for each workload, whose first row is without faults."""
    known: dict[str, dict[tuple[str, str], Cell]] = {}
    for cell in cells:
        known.setdefault(cell.workload, {})[cell.scenario, cell.client] = cell
    for workload in (workload.name for workload in WORKLOADS if workload.name in known):
        by_row = known[workload]
        clients = sorted({client for _, client in by_row})
        names = sorted({name for name, _ in by_row}, key=lambda name: (name != CONTROL, name))
        by_scenario: dict[str, list[Cell]] = {name: [] for name in names}
        for (name, _), cell in by_row.items():
            by_scenario[name].append(cell)
        runs = {name: _unmet_runs(row) for name, row in by_scenario.items()}
        unmet = {name: count for name, count in runs.items() if count is not None}
        rows = [
            (name, [by_row.get((name, client)) for client in clients])
            for name in names
            if name not in unmet
        ]
        settings = [_settings(by_row.get((CONTROL, client))) for client in clients]
        yield Table(workload, clients, rows, unmet, settings)


def _unmet_runs(cells: Iterable[Cell]) -> int | None:
    """Return the number of a scenario's runs if no rule fired in any; None: some cell shows something."""
    runs, words = 0, set()
    for cell in cells:
        if any(trial.fired for trial in cell.trials):
            return None
        words.add(cell.verdict.word)
        runs += len(cell.trials)
    return runs if "not met" in words and words <= {*UNJUDGED} else None


def heading(workload: str) -> str:
    """Return the description of a workload as a sentence.

    >>> heading("produce")
    "A producer sends records, with the library's defaults."
    """
    description = find(workload).description
    return f"{description[0].upper()}{description[1:]}."


def omitted_scenarios(unmet: Mapping[str, int], quote: str = "") -> list[str]:
    """Describe the scenarios that have no row in up to two sentences. quote: stands around each name.

    >>> for sentence in omitted_scenarios({"clock-skew": 0, "lossy-network": 4}):
    ...     print(sentence)
    No client sends a request that these scenarios match: clock-skew.
    The clients send matching requests, but no rule fired: lossy-network (4 runs).
    """
    idle = [f"{quote}{name}{quote}" for name, runs in unmet.items() if not runs]
    unfired = [f"{quote}{name}{quote} ({runs} runs)" for name, runs in unmet.items() if runs]
    lists = {
        "No client sends a request that these scenarios match": idle,
        "The clients send matching requests, but no rule fired": unfired,
    }
    return [f"{text}: {', '.join(names)}." for text, names in lists.items() if names]


def _settings(control: Cell | None) -> str:
    return control.trials[0].settings if control is not None and control.trials else ""


def counts(cells: Collection[Cell]) -> Counter[str]:
    """Count cells by the table's word for their worst observation.

    Cells without faults count only if there are no others.
    """
    faulty = [cell for cell in cells if cell.scenario != CONTROL]
    return Counter(label(cell.verdict) for cell in faulty or cells)


def findings(cells: Iterable[Cell]) -> list[Cell]:
    """Return cells with broken promises, those without faults first; no slow ones of a busy machine."""
    broken = [
        cell
        for cell in cells
        if cell.verdict.promised
        and cell.verdict.word not in ("fine", *UNJUDGED)
        and not (cell.verdict.word == "slow" and cell.verdict.busy)
    ]
    return sorted(broken, key=lambda cell: cell.scenario != CONTROL)


def markdown(cells: Iterable[Cell]) -> str:
    """Return the tables, and the reasons for verdicts other than `fine`, in Markdown."""
    cells = list(cells)
    lines = [*table_lines(cells, cell_text)]
    explained = [
        cell
        for cell in cells
        if (cell.verdict.why and cell.verdict.word != "not met")
        or (cell.verdict.unmatched and cell.verdict.of)
    ]
    explained.sort(key=lambda cell: cell.scenario != CONTROL)
    if explained:
        lines += ["## Why", ""]
        lines += [
            f"- {plain(cell.name)}: {cell_text(cell)}: {plain('; '.join(reasons(cell.verdict)))}"
            for cell in explained
        ]
        lines.append("")
    return "\n".join(lines)


def table_lines(cells: list[Cell], words: Callable[[Cell], str]) -> Iterator[str]:
    """Yield the lines of the Markdown tables. words: describes a cell.

    A client without any run, and a scenario without any fired rule, are in a list after the table.
    """
    for table in tables(cells):
        brokers = sorted({cell.broker for cell in cells if cell.workload == table.workload})
        idle = dict(_idle(table))
        lines = [["scenario", *map(plain, table.clients)]]
        if any(table.settings):
            lines.append([ASKED_WITH, *map(plain, table.settings)])
        for name, row in table.rows:
            lines.append([plain(name), *("" if cell is None else words(cell) for cell in row)])
        columns = [
            [text for index, text in enumerate(line) if index - 1 not in idle] for line in lines
        ]
        yield from (
            f"## {table.workload}",
            "",
            f"{heading(table.workload)} Brokers: {plain(', '.join(brokers))}.",
            "",
        )
        yield f"| {' | '.join(columns[0])} |"
        yield "|---" * len(columns[0]) + "|"
        yield from (f"| {' | '.join(line)} |" for line in columns[1:])
        sentences = omitted_scenarios(
            {plain(name): runs for name, runs in table.unmet.items()}, "`"
        )
        for reason in dict.fromkeys(idle.values()):
            names = [table.clients[index] for index, each in idle.items() if each == reason]
            sentences.append(plain(f"Not run, because {reason}: {', '.join(names)}."))
        yield from ("", "Not in the table:", "") if sentences else ()
        for sentence in sentences:
            yield from list_item(sentence)
        yield ""


def list_item(text: str) -> list[str]:
    """Return the lines of an item of a Markdown list."""
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent="- ",
        subsequent_indent="  ",
        break_on_hyphens=False,
        break_long_words=False,
    )


def _idle(table: Table) -> Iterator[tuple[int, str]]:
    """Yield the index of each client of which no cell was run, and the reason."""
    for index in range(len(table.clients)):
        column = [cell.verdict for _, row in table.rows if (cell := row[index]) is not None]
        whys = {verdict.why for verdict in column}
        if len(whys) == 1 and all(verdict.word == "not run" for verdict in column):
            yield index, whys.pop()


def plain(text: str) -> str:
    """Escape characters with a meaning in Markdown or HTML."""
    text = re.sub(r"([\\|\[\]`*])", r"\\\1", text.replace("&", "&amp;").replace("<", "&lt;"))
    return " ".join(text.split())
