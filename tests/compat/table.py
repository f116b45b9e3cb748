"""The table, for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.table import Table

from tests.compat.cells import Cell, Verdict
from tests.compat.plan import CLIENTS, JOBS

MARKS: Final = {
    Verdict.SAME: "same",
    Verdict.IMPOSSIBLE: "–",
    Verdict.DIFFERS: "DIFFERS",
    Verdict.NEITHER: "NEITHER",
    Verdict.BYPASSED: "BYPASSED",
    Verdict.UNREAD: "NOT DECODED",
    Verdict.WRONG: "WRONG",
}


def rows(cells: Sequence[Cell]) -> Iterator[list[str]]:
    """Broker, client, and a mark for each job."""
    found = {(cell.broker, cell.client, cell.job): cell for cell in cells}
    for broker, client in dict.fromkeys((cell.broker, cell.client) for cell in cells):
        marks = [MARKS[found[broker, client, job].verdict] for job in JOBS]
        yield [broker, CLIENTS[client], *marks]


def notes(cells: Sequence[Cell]) -> Iterator[str]:
    """What there is to say of cells that are not the same: each reason once, with its cells."""
    said: dict[str, list[str]] = {}
    for cell in cells:
        if cell.verdict is not Verdict.SAME:
            where = f"{cell.broker} {cell.client} {cell.job}"
            said.setdefault(f"{cell.verdict}: {cell.reason}", []).append(where)
    for reason, cells_of_it in said.items():
        yield f"{reason} ({', '.join(cells_of_it)})"


def rich_table(cells: Sequence[Cell]) -> Table:
    """For a terminal."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("broker", "client", *JOBS.values()):
        table.add_column(name)
    for row in rows(cells):
        table.add_row(*row)
    return table


def markdown(cells: Sequence[Cell]) -> str:
    """For docs/explanation/compatibility.md: a line a broker, a column a client, in it the same jobs."""
    clients = list(dict.fromkeys(cell.client for cell in cells))
    lines = [["broker", *(CLIENTS[client] for client in clients)], ["---"] * (1 + len(clients))]
    for broker in dict.fromkeys(cell.broker for cell in cells):
        row = [
            _in_words([cell for cell in cells if (cell.broker, cell.client) == (broker, client)])
            for client in clients
        ]
        lines.append([broker, *row])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _in_words(cells: Sequence[Cell]) -> str:
    """The jobs of one client on one broker that are the same, and those that are wrong.

    >>> _in_words([Cell("2.8.0", "java", "admin", Verdict.SAME)])
    'admin calls'
    >>> _in_words([Cell("2.8.0", "java", "admin", Verdict.DIFFERS)])
    'DIFFERS: admin calls'
    """
    same = [JOBS[cell.job] for cell in cells if cell.verdict is Verdict.SAME]
    wrong = [
        f"{MARKS[cell.verdict]}: {JOBS.get(cell.job, cell.job)}" for cell in cells if not cell.fine
    ]
    words = ["all five"] if len(same) == len(JOBS) else same
    return ", ".join([*words, *wrong]) or "–"
