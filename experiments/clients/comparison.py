"""The cells in which two clients differ, such as two releases of a library."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from barnabas.experiments.clients.cell import Cell
from barnabas.experiments.clients.verdict import Word

BUSY_MS: Final = 15_000
"""The delay from which on it counts whatever else the machine did: runs without faults differ by a third."""


class Difference(NamedTuple):
    """The cells of two clients with one workload and scenario. None: the client has no such cell."""

    workload: str
    scenario: str
    new: Cell | None
    old: Cell | None


def differences(cells: Iterable[Cell], new: str, old: str) -> list[Difference]:
    """Return the cells of two clients with different observations, in order of workload and scenario.

    The number of trials with an observation does not count, and neither does a delay on a busy machine of
    less than BUSY_MS.
    """
    by_client: dict[str, dict[tuple[str, str], Cell]] = {new: {}, old: {}}
    for cell in cells:
        if cell.client in by_client:
            by_client[cell.client][cell.workload, cell.scenario] = cell
    return [
        Difference(*name, by_client[new].get(name), by_client[old].get(name))
        for name in sorted({*by_client[new], *by_client[old]})
        if _observed(by_client[new].get(name)) != _observed(by_client[old].get(name))
    ]


def _observed(cell: Cell | None) -> frozenset[tuple[Word, bool]] | None:
    if cell is None:
        return None
    observed = {(each.word, each.promised) for each in cell.verdict.observations}
    if cell.verdict.busy and cell.verdict.slower_ms < BUSY_MS:
        observed.discard(("slow", True))
    return frozenset(observed or {("fine", True)})
