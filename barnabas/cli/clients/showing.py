"""Prints cells: the table of all, and all that is known of one."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path

from rich.table import Table
from rich.text import Text

from barnabas.captures.kafka.wording import printable
from barnabas.cli.console.output import Output
from barnabas.experiments.clients.cell import Cell
from barnabas.experiments.clients.folder import FolderError, read
from barnabas.experiments.clients.table import by_workload, said
from barnabas.nearest import did_you_mean
from barnabas.specs.json_text import compact
from barnabas.trouble import Trouble


def cells(out: Path) -> list[Cell]:
    """The cells of a folder. Raises Trouble."""
    try:
        return list(read(out).values())
    except FolderError as problem:
        raise Trouble(str(problem)) from None
    except OSError as problem:
        raise Trouble(f"can't read {out}: {problem.strerror}") from None


def find(name: str, out: Path) -> Cell:
    """A cell of a folder. Raises Trouble."""
    known = {cell.name: cell for cell in cells(out)}
    if name not in known:
        hint = did_you_mean(name, known)
        raise Trouble(f"{out} has no cell {name!r}{hint}")
    return known[name]


def show(name: str, out: Path, as_json: bool) -> None:
    """All that is known of one, and where its evidence is. Raises Trouble."""
    cell, output = find(name, out), Output()
    if as_json:
        output.raw(compact(cell.model_dump(mode="json")))
        return
    output.line(f"{cell.name}: {said(cell)}, {cell.broker}")
    if cell.verdict.why:
        output.line(cell.verdict.why)
    for number, one in enumerate(cell.trials):
        ended = "its time was up" if one.code is None else f"exit code {one.code}"
        output.line("")
        output.line(
            f"seed {one.seed}: {ended} after {one.seconds:.1f} s; the rules fired {one.fired} times, "
            f"over {one.fault_ms / 1000:.1f} s"
        )
        if one.raised:
            output.line(f"  raised {one.raised}")
        for found in one.findings:
            output.line(f"  {found.kind}: {found.text}")
        for what in one.broken:
            output.line(f"  breaks the protocol: {what}")
        output.line(f"  {out / 'cells' / cell.name / str(number)}")
    output.line("")
    output.line(
        f"again: barnabas clients rerun {shlex.quote(cell.name)} --out {shlex.quote(str(out))}"
    )


def print_table(found: Iterable[Cell], output: Output) -> None:
    """A table for each workload: a row a scenario, a column a client."""
    for workload, clients, rows in by_workload(found):
        table = Table(title=workload, title_justify="left")
        for name in ("scenario", *clients):
            table.add_column(Text(printable(name)))
        for name, texts in rows:
            table.add_row(Text(printable(name)), *(_painted(text) for text in texts))
        output.out.print(table)


def _painted(text: str) -> Text:
    style = "" if text.startswith(("not ", "slow")) or text.endswith("(not promised)") else "red"
    return Text(printable(text), "green" if text.startswith("fine") else style)
