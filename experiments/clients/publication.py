"""The tables as a whole page in Markdown for publication: `docs/clients.md`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from barnabas.experiments.clients.cell import CONTROL, Cell
from barnabas.experiments.clients.table import WIDTH, list_item, plain, table_lines
from barnabas.experiments.clients.wording import (
    UNEXPECTED,
    UNSTABLE,
    UNSTABLE_MEANING,
    is_unstable,
    public_text,
)
from barnabas.experiments.clients.workloads import WORKLOADS
from barnabas.plural import plural


def publication(cells: Iterable[Cell]) -> str:
    """Return the page. Links are relative to `docs`.

    It does not name what may be an unfixed bug, so that its project can learn of it first (SECURITY.md).
    """
    cells = list(cells)
    return "\n".join([*_introduction(cells), "", *table_lines(cells, public_text)])


def dates(cells: Iterable[Cell]) -> str:
    """Return the days on which cells were run, such as "2026-11-26 to 2026-11-29"; empty: unknown."""
    days = sorted(f"{cell.ended:%Y-%m-%d}" for cell in cells if cell.ended is not None)
    return " to ".join(dict.fromkeys((days[0], days[-1]))) if days else ""


def _introduction(cells: Sequence[Cell]) -> Iterator[str]:
    yield from (
        "# What clients do under faults",
        "",
        "<!-- Written by `barnabas clients report --format public`: run that, do not change this file. -->",
        "",
    )
    for paragraph in (_subject(cells), _runs(cells)):
        yield from (*textwrap.wrap(paragraph, WIDTH, break_on_hyphens=False), "")
    yield from ("[Read a cell](howto/clients.md#read-a-cell) explains the words. Two of them:", "")
    details = (
        f"`{UNEXPECTED}`: the client did something that contradicts its documentation. The details stay "
        "private until the library's project publishes them (SECURITY.md). To see them with the evidence, "
        "run the command yourself; it takes any release."
    )
    yield from list_item(details)
    unstable = sum(is_unstable(cell.verdict) for cell in cells)
    yield from list_item(
        f"`{UNSTABLE}`, in {unstable} of {len(cells)} cells: {UNSTABLE_MEANING}. `1 of 3`: in 1 of 3 runs."
    )


def _subject(cells: Sequence[Cell]) -> str:
    """Return the numbers of clients and scenarios, the brokers and the workloads, in sentences."""
    clients = {cell.client.partition("@")[0] for cell in cells}
    scenarios = {cell.scenario for cell in cells} - {CONTROL}
    brokers = sorted({cell.broker for cell in cells})
    names = {cell.workload for cell in cells}
    workloads = [f"`{workload.name}`" for workload in WORKLOADS if workload.name in names]
    return (
        f"{plural(len(clients), 'client library', 'client libraries')} under "
        f"{plural(len(scenarios), 'scenario')} ([list](reference/scenarios.md)), "
        f"against {plain(', '.join(brokers))}. The [workloads](howto/clients.md#what-a-client-does): "
        f"{', '.join(workloads)}."
    )


def _runs(cells: Sequence[Cell]) -> str:
    """Return the date, the number of runs, and the share on a busy machine, in sentences."""
    days = dates(cells)
    moment = f" on {days}" if days else ""
    trials = [trial for cell in cells for trial in cell.trials]
    most = max((len(cell.trials) for cell in cells), default=0)
    busy = sum(trial.busy for trial in trials)
    differ = any(trial.drawn != cell.trials[0].drawn for cell in cells for trial in cell.trials)
    traffic = " and [traffic](howto/clients.md#traffic)" if differ else ""
    return (
        f"`barnabas clients run` made the tables{moment}: {plural(len(trials), 'run')}, "
        f"up to {most} of each cell, with different seeds{traffic}. "
        f"In {busy} of them the machine was busy: the load average was over 2 per core."
    )
