"""Cells side by side: first those without faults, then those of the rows in which all was well."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from barnabas.experiments.clients.brokers import EMBEDDED, NEWEST, Brokers
from barnabas.experiments.clients.cell import CONTROL, TRIALS, Cell, cell_name
from barnabas.experiments.clients.cutting import cut_scenarios
from barnabas.experiments.clients.folder import Folder, evidence
from barnabas.experiments.clients.meeting import may_meet
from barnabas.experiments.clients.started import Stopped
from barnabas.experiments.clients.trial import CAPTURE, Place, Trial, trial
from barnabas.experiments.clients.verdict import Verdict, healthy, verdict
from barnabas.experiments.clients.workloads import Workload
from barnabas.experiments.explore.read_log import LogError
from barnabas.peers.apache.errors import BootError, UnavailableError
from barnabas.peers.clients.cache import ended_by
from barnabas.peers.clients.client import Program
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.proxy.scenario.file import Scenario

SIDE_BY_SIDE: Final = 8
"""Cells at once: most of their time clients wait."""

ENOUGH: Final = 2
"""Trials that did not meet the scenario after which no other is made."""


NOTHING: Final = "without faults it asks nothing that the rules are about: it was not run"

GONE: Final = "the brokers went away"
"""Why cells are not run any more."""

TRIES: Final = 3
"""Cells in a row that could not reach the brokers after which these are gone."""

Named = tuple[str, Scenario]


class Asked(NamedTuple):
    """What is to be in the table. clients: what a user named, and what gets its program. cuts: exchanges of
    each client's workload at which the connection is cut, each by a scenario of its own. commands: how those
    clients are started that are programs of the user's. again: whether what the folder has is run again."""

    clients: Sequence[tuple[str, Callable[[], Program]]]
    workloads: Sequence[Workload]
    scenarios: Sequence[Named]
    trials: int = TRIALS
    cuts: int = 0
    commands: Mapping[str, str] = MappingProxyType({})
    again: bool = False


class Row(NamedTuple):
    """A client's workload."""

    client: str
    program: Program
    workload: Workload

    def cell(self, scenario: str) -> str:
        """Return the name of its cell under a scenario."""
        return cell_name(self.client, self.workload.name, scenario)


Done = tuple[list[Cell], list[Callable[[], "Done"]]]
"""What a step came to, and the steps behind it."""


@dataclass
class Matrix:
    """Runs what is asked for, but for what the folder has, if it is not asked again. stop: set by whoever
    wants it to end."""

    asked: Asked
    brokers: Brokers
    folder: Folder
    side_by_side: int = SIDE_BY_SIDE
    stop: threading.Event = field(default_factory=threading.Event)
    _cut: list[int] = field(default_factory=list)
    """Cells with cuts, of each row that has begun."""
    _unreached: int = 0
    """Cells in a row that could not reach the brokers."""

    @property
    def size(self) -> int:
        """Cells that there are, as far as that is known, with those without faults."""
        asked = self.asked
        rows = len(asked.clients) * len(asked.workloads)
        return rows * (1 + len(asked.scenarios)) + sum(self._cut)

    def run(self) -> Iterator[Cell]:
        """The cells as they are over; those that the folder has at once."""
        with ThreadPoolExecutor(self.side_by_side) as pool:
            try:
                waiting = {pool.submit(self._client, *client) for client in self.asked.clients}
                while waiting:
                    done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    for cells, tasks in (future.result() for future in done):
                        yield from cells
                        waiting |= {pool.submit(task) for task in tasks}
            finally:
                self.stop.set()
                pool.shutdown(cancel_futures=True)

    def _client(self, client: str, get: Callable[[], Program]) -> Done:
        """Its program is got, once."""
        if self.stop.is_set():
            return [], []
        cells: list[Cell] = []
        able: list[Workload] = []
        for workload in self.asked.workloads:
            if why := self.brokers.unable(workload):
                cells += self._not_run(client, workload, why)
            else:
                able.append(workload)
        try:
            with ended_by(self.stop):
                program = get() if able else None
        except UnavailableClientError as problem:
            if self.stop.is_set():
                return [], []
            return cells + [
                cell for each in able for cell in self._not_run(client, each, str(problem))
            ], []
        rows = [Row(client, program, each) for each in able if program]
        return cells, [partial(self._row, row) for row in rows]

    def _row(self, row: Row) -> Done:
        """Without faults, and what is to be done next."""
        if self.stop.is_set():
            return [], []
        client, _, workload = row
        capture = evidence(self.folder.path, row.cell(CONTROL), 0) / CAPTURE
        again = bool(self.asked.cuts) and not capture.exists()
        control = self._cell(row, None, (), again=again)
        if control is None:
            return [], []
        if control.verdict.word != "fine":
            return [control, *self._not_run(client, workload, control.verdict.why)], []
        cuts = cut_scenarios(capture, self.asked.cuts) if self.asked.cuts else []
        self._cut.append(len(cuts))
        tasks: list[Callable[[], Done]] = [
            partial(self._faulty, row, each, control.trials)
            for each in (*self.asked.scenarios, *cuts)
        ]
        return [control], tasks

    def _faulty(self, row: Row, named: Named, control: tuple[Trial, ...]) -> Done:
        if self.stop.is_set():
            return [], []
        cell = self._cell(row, named, control)
        return [] if cell is None else [cell], []

    def _cell(
        self, row: Row, named: Named | None, control: tuple[Trial, ...], *, again: bool = False
    ) -> Cell | None:
        """A cell that is over; None: it was to end before."""
        name, scenario = named or (CONTROL, None)
        text = "" if scenario is None else scenario.meta()["scenario"]
        cell, command = row.cell(name), self.asked.commands.get(row.client, "")
        known = self.folder.known(cell, self.brokers.wanted, text, command)
        if known and not again and not self.asked.again:
            return known
        if self._unreached >= TRIES:
            return self._over(row, name, Verdict(word="not run", why=GONE))
        try:
            found, trials = self._tried(row, scenario, self.folder.begin(cell, text), control)
        except Stopped:
            return None
        except (OSError, LogError, BootError, UnavailableError) as problem:
            # one with a number is of a file or a process of this machine
            if getattr(problem, "errno", None) is None:
                self._unreached += 1
            why = " ".join(str(problem).split())
            return self._over(row, name, Verdict(word="not run", why=why))
        if trials:
            self._unreached = 0
        return self._over(row, name, found, trials)

    def _tried(
        self, row: Row, scenario: Scenario | None, begun: Path, control: tuple[Trial, ...]
    ) -> tuple[Verdict, list[Trial]]:
        """The judgement, and the trials, whose files are in a folder."""
        if scenario and not may_meet(scenario, {kind for one in control for kind in one.asked}):
            return Verdict(word="not met", why=NOTHING), []
        trials: list[Trial] = []
        for number in range(self.asked.trials):
            seeded = scenario and scenario.model_copy(update={"seed": scenario.seed + number})
            place = Place(self.brokers.bootstrap(), begun / str(number), self.brokers.makes)
            trials.append(trial(row.program, row.workload, seeded, place, self.stop))
            if len(trials) >= ENOUGH and not any(one.fired for one in trials) and scenario:
                break
        if scenario is None:
            return _control(row.workload, trials, self.brokers.wanted), trials
        fatal = scenario.about is not None and scenario.about.fatal
        return verdict(row.workload, control, trials, fatal=fatal), trials

    def _over(self, row: Row, scenario: str, found: Verdict, trials: Sequence[Trial] = ()) -> Cell:
        cell = Cell(
            client=row.client,
            workload=row.workload.name,
            scenario=scenario,
            broker=self.brokers.wanted,
            verdict=found,
            trials=tuple(trials),
            command=self.asked.commands.get(row.client, ""),
        )
        self.folder.add(cell)
        return cell

    def _not_run(self, client: str, workload: Workload, why: str) -> list[Cell]:
        broker, word = self.brokers.wanted, Verdict(word="not run", why=why)
        cells = [
            Cell(client=client, workload=workload.name, scenario=name, broker=broker, verdict=word)
            for name, _ in self.asked.scenarios
        ]
        for cell in cells:
            self.folder.add(cell)
        return cells


def _control(workload: Workload, trials: Sequence[Trial], broker: str) -> Verdict:
    why = healthy(workload, trials)
    if why and broker == EMBEDDED:
        why += f"; it may be the embedded cluster's fault: --broker {NEWEST}"
    return Verdict(word="not run" if why else "fine", times=len(trials), of=len(trials), why=why)
