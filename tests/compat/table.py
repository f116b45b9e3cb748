"""The table, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from tests.compat.cells import Cell, Verdict

MARKS: Final = {
    Verdict.DIFFERS: "DIFFERS",
    Verdict.NEITHER: "NEITHER",
    Verdict.BYPASSED: "BYPASSED",
    Verdict.UNREAD: "NOT DECODED",
    Verdict.WRONG: "WRONG",
}


def notes(cells: Sequence[Cell]) -> Iterator[str]:
    """What there is to say of cells that are not the same: each reason once, with its cells."""
    said: dict[str, list[str]] = {}
    for cell in cells:
        if cell.verdict is not Verdict.SAME:
            where = f"{cell.broker} {cell.client} {cell.workload}"
            said.setdefault(f"{cell.verdict}: {cell.reason}", []).append(where)
    for reason, cells_of_it in said.items():
        yield f"{reason} ({', '.join(cells_of_it)})"


def markdown(cells: Sequence[Cell]) -> str:
    """For docs/explanation/compatibility.md: a line a client, a column a broker, in it how many workloads are
    the same, and what is wrong."""
    brokers, clients = (list(dict.fromkeys(each)) for each in zip(*map(_where, cells), strict=True))
    lines = [["client", *brokers], ["---"] * (1 + len(brokers))]
    for client in clients:
        row = [
            _in_words(cell for cell in cells if _where(cell) == (one, client)) for one in brokers
        ]
        lines.append([client, *row])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _where(cell: Cell) -> tuple[str, str]:
    return cell.broker, cell.client


def _in_words(cells: Iterable[Cell]) -> str:
    """Those of one client on one broker.

    >>> _in_words([Cell("2.8.0", "java", "admin", Verdict.SAME)])
    '1'
    >>> _in_words([Cell("2.8.0", "java", "admin", Verdict.DIFFERS)])
    'DIFFERS: admin'
    """
    found = list(cells)
    same = sum(cell.verdict is Verdict.SAME for cell in found)
    wrong = [f"{MARKS[cell.verdict]}: {cell.workload}" for cell in found if not cell.fine]
    return ", ".join([str(same)] * bool(same) + wrong) or "–"
