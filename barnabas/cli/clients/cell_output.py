"""Prints the cells of a folder: the table of all, and the details of one."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from rich.table import Table
from rich.text import Text

from barnabas.captures.kafka.wording import printable
from barnabas.cli.console.output import Output
from barnabas.experiments.clients import workloads
from barnabas.experiments.clients.cell import CONTROL, Cell
from barnabas.experiments.clients.comparison import Difference
from barnabas.experiments.clients.folder import (
    FolderError,
    evidence,
    healthy_of,
    read,
    scenario_of,
)
from barnabas.experiments.clients.table import heading, omitted_scenarios, tables
from barnabas.experiments.clients.timeline import fired
from barnabas.experiments.clients.trial import CAPTURE
from barnabas.experiments.clients.wording import (
    cell_text,
    reasons,
    rerun_command,
    severity,
    smallest_lines,
    trial_lines,
)
from barnabas.experiments.library import names
from barnabas.nearest import did_you_mean
from barnabas.trouble import Trouble

STYLES: Final = {"fine": "green", "error": "red"}


def cells(out: Path) -> list[Cell]:
    """Read the cells of a folder. Raises Trouble."""
    try:
        return list(read(out).values())
    except FolderError as problem:
        raise Trouble(str(problem)) from None
    except OSError as problem:
        raise Trouble(f"can't read {out}: {problem.strerror}") from None


def find(name: str, out: Path) -> Cell:
    """Return a cell of a folder. Raises Trouble."""
    by_name = {cell.name: cell for cell in cells(out)}
    if name not in by_name:
        hint = did_you_mean(name, by_name)
        raise Trouble(f"{out} has no cell {name!r}{hint}")
    return by_name[name]


def show(name: str, out: Path, as_json: bool) -> None:
    """Print the details of a cell, and the paths of its evidence. Raises Trouble."""
    cell, output = find(name, out), Output()
    if as_json:
        output.raw(cell.model_dump_json())
        return
    try:
        workload = workloads.find(cell.workload)
    except LookupError as problem:
        raise Trouble(f"{name} is of another version of barnabas: {problem.args[0]}") from None
    output.line(f"{cell.name}: {cell_text(cell)}, {cell.broker}")
    for line in (*reasons(cell.verdict), *smallest_lines(cell)):
        output.line(line)
    if healthy := healthy_of(out, cell.name):
        output.line(f"a healthy client: {healthy}")
    for number, trial in enumerate(cell.trials):
        first, *others = trial_lines(trial, workload)
        folder = evidence(out, cell.name, number)
        output.line("")
        output.line(first)
        for line in (*others, *fired(folder), str(folder)):
            output.line(f"  {line}")
    output.line("")
    output.line("next:")
    for command in _next(cell, out):
        output.line(f"  {command}")


def _next(cell: Cell, out: Path) -> list[str]:
    """Return commands that show more details."""
    first_fired = next((number for number, each in enumerate(cell.trials) if each.fired), 0)
    capture = evidence(out, cell.name, first_fired) / CAPTURE
    decode = [shlex.join(["barnabas", "decode", str(capture)])] if cell.trials else []
    scenario = [] if cell.scenario == CONTROL else [str(scenario_of(out, cell.name))]
    if cell.scenario in names():
        scenario = [cell.scenario]
    show_commands = [shlex.join(["barnabas", "scenario", "show", each]) for each in scenario]
    return [*decode, rerun_command(cell, out), *show_commands]


def print_table(table_cells: Iterable[Cell], output: Output) -> None:
    """Print a table for each workload: a row for each scenario, a column for each client."""
    for workload, clients, rows, unmet, _ in tables(table_cells):
        title = f"{workload}: {heading(workload)}"
        table = Table(title=title, title_justify="left", caption_justify="left")
        table.caption = "\n".join(omitted_scenarios(unmet)) or None
        for name in ("scenario", *clients):
            table.add_column(Text(printable(name)))
        for name, row in rows:
            table.add_row(Text(printable(name)), *map(_painted, row))
        output.out.print(table)


def print_differences(differing: Iterable[Difference], new: str, old: str, output: Output) -> None:
    """Print a table with the cells in which two clients differ."""
    table = Table(title=f"cells in which {new} and {old} differ", title_justify="left")
    for name in ("workload", "scenario", old, new):
        table.add_column(Text(printable(name)))
    for each in differing:
        names_of_row = (Text(printable(name)) for name in (each.workload, each.scenario))
        table.add_row(*names_of_row, _painted(each.old), _painted(each.new))
    if table.row_count:
        output.out.print(table)
    else:
        output.line(f"{new} and {old} differ in no cell in which a rule matched")


def _painted(cell: Cell | None) -> Text:
    return Text() if cell is None else Text(cell_text(cell), STYLES.get(severity(cell), ""))
