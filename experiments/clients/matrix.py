"""The run of all cells: first those without faults, then those of the clients that pass them."""

from __future__ import annotations

import contextlib
import random
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from barnabas.broker_kinds import LIBRDKAFKA
from barnabas.experiments.clients.broker_versions import (
    client_parameters,
    codecs,
    librdkafka_settings,
)
from barnabas.experiments.clients.brokers import NEWEST, Brokers
from barnabas.experiments.clients.cell import CONTROL, TRIALS, Cell
from barnabas.experiments.clients.cell_run import CellRun, Row
from barnabas.experiments.clients.client_process import RunStopped
from barnabas.experiments.clients.cut_scenarios import CUT, cut_scenarios
from barnabas.experiments.clients.draws import Draw, features
from barnabas.experiments.clients.folder import Folder, evidence
from barnabas.experiments.clients.relevance import RequestedApi
from barnabas.experiments.clients.spread import spread
from barnabas.experiments.clients.trial import CAPTURE, Trial
from barnabas.experiments.clients.trial_setup import TrialSetup
from barnabas.experiments.clients.verdict import Verdict, is_fine
from barnabas.experiments.clients.wording import reasons
from barnabas.experiments.clients.workloads import ROLLING_RESTART, Workload, find
from barnabas.experiments.explore.read_log import LogError
from barnabas.peers.apache.errors import BootError, UnavailableError
from barnabas.peers.clients.client import Program
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.peers.stopping import ended_by
from barnabas.proxy.scenario.file import Scenario

SIDE_BY_SIDE: Final = 8
"""Cells at once: most of their time clients wait."""

DOUBT: Final = f"; it may be the fault of librdkafka's mock: --broker {NEWEST}"
"""An addition to a reason without any fault, on librdkafka's mock."""

TROUBLE: Final = "the brokers or this machine failed: "
"""The beginning of the reason of a cell that could not be run, and may be another time."""

GONE: Final = f"{TROUBLE}see the cells before"
"""The reason why no more cells are run."""

UNREACHED_CELLS: Final = 3
"""Successive cells without a connection to the brokers after which the run gives up."""

Named = tuple[str, Scenario]


class TableRequest(NamedTuple):
    """The requested cells.

    clients: names, and functions that return their programs. cuts: number of exchanges of each workload at
    which the connection is cut, each by a scenario of its own. commands: command lines of the user's
    programs, by client. again: whether to run cells again that the folder has. drawn: whether the traffic of
    the trials after the first is drawn from their numbers (`draws.py`). spread: workloads of each scenario
    (`spread.py`); None: all.
    """

    clients: Sequence[tuple[str, Callable[[], Program]]]
    workloads: Sequence[Workload]
    scenarios: Sequence[Named]
    trials: int = TRIALS
    cuts: int = 0
    commands: Mapping[str, str] = MappingProxyType({})
    again: bool = False
    drawn: bool = True
    spread: int | None = None


StepResult = tuple[list[Cell], list[Callable[[], "StepResult"]]]
"""The cells of a step, and the following steps."""


@dataclass
class Matrix:
    """A run of the requested cells that the folder lacks. stop: ends the run when it is set."""

    request: TableRequest
    brokers: Brokers
    folder: Folder
    side_by_side: int = SIDE_BY_SIDE
    stop: threading.Event = field(default_factory=threading.Event)
    _cut: list[int] = field(default_factory=list)
    """Cells with cuts, of each row that has begun."""
    _unreached: int = 0
    """Cells in a row that could not reach the brokers."""
    _controls: dict[tuple[str, str], tuple[Row, tuple[Trial, ...]]] = field(default_factory=dict)
    """Rows whose client passed the run without faults, and their trials, if scenarios are spread."""
    _awaited: int = 0
    """Rows that scenarios are spread over and that have not run yet without faults."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def size(self) -> int:
        """Return the number of cells, as far as it is known, including those without faults."""
        request = self.request
        workloads = [workload for workload in request.workloads if not workload.seconds]
        rows = min(len(workloads), request.spread or len(workloads))
        cells = len(request.workloads) + rows * len(request.scenarios)
        return len(request.clients) * cells + sum(self._cut)

    def _scenarios(self, workload: Workload) -> Sequence[Named]:
        """Return the scenarios of a workload: none for those that run once."""
        return () if workload.seconds else self.request.scenarios

    def _unspread(self, workload: Workload) -> list[str]:
        """Return the names of the scenarios that a workload has whatever its clients request."""
        return [] if self.request.spread else [name for name, _ in self._scenarios(workload)]

    def run(self) -> Iterator[Cell]:
        """Yield the cells as they finish, those of the folder at once."""
        rows = [each for each in self.request.workloads if not each.seconds]
        self._awaited = len(self.request.clients) * len(rows)
        with ThreadPoolExecutor(self.side_by_side) as pool:
            try:
                waiting = {pool.submit(self._client, *client) for client in self.request.clients}
                while waiting:
                    done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    for cells, tasks in (future.result() for future in done):
                        yield from cells
                        waiting |= {pool.submit(task) for task in tasks}
            finally:
                self.stop.set()
                pool.shutdown(cancel_futures=True)

    def _client(self, client: str, get: Callable[[], Program]) -> StepResult:
        """Install a client's program."""
        if self.stop.is_set():
            return [], []
        reasons_by_workload = {
            workload.name: self.brokers.unable(workload) for workload in self.request.workloads
        }
        try:
            with ended_by(self.stop):
                program = None if all(reasons_by_workload.values()) else get()
        except UnavailableClientError as problem:
            if self.stop.is_set():
                return [], []
            program = None
            reasons_by_workload = {
                name: reason or str(problem) for name, reason in reasons_by_workload.items()
            }
        cells: list[Cell] = []
        tasks: list[Callable[[], StepResult]] = []
        for workload in self.request.workloads:
            reason = reasons_by_workload[workload.name]
            if program is None or reason:
                names = self._unspread(workload) or [CONTROL]
                cells += self._not_run(client, workload, reason, names)
                tasks += self._controlled(workload, None, ())
            else:
                tasks.append(partial(self._row, Row(client, program, workload)))
        return cells, tasks

    def _row(self, row: Row) -> StepResult:
        """Run a row's cell without faults, and return the tasks of the row's other cells."""
        if self.stop.is_set():
            return [], []
        client, _, workload = row
        capture = evidence(self.folder.path, row.cell(CONTROL), 0) / CAPTURE
        again = bool(self.request.cuts) and not capture.exists()
        control = self._cell(row, None, (), again=again)
        if control is None:
            return [], []
        fit = tuple(each for each in control.trials if is_fine(workload, each))
        if control.verdict.word == "not run" or fit[:1] != control.trials[:1]:
            reason = "; ".join(reasons(control.verdict))
            others = self._not_run(client, workload, reason, self._unspread(workload))
            return [control, *others], self._controlled(workload, None, ())
        count = 0 if workload.seconds else self.request.cuts
        cuts = cut_scenarios(capture, count) if count else []
        self._cut.append(len(cuts))
        tasks = [partial(self._faulty, row, each, fit) for each in cuts]
        return [control], tasks + self._controlled(workload, row, fit)

    def _controlled(
        self, workload: Workload, row: Row | None, control: tuple[Trial, ...]
    ) -> list[Callable[[], StepResult]]:
        """Return the tasks that follow a row's run without faults; row: None if the client can't be judged.

        If scenarios are spread, they wait for the last of these runs.
        """
        if self.request.spread is None:
            if row is None:
                return []
            named = self._scenarios(workload)
            return [partial(self._faulty, row, each, control) for each in named]
        if workload.seconds:
            return []
        with self._lock:
            if row:
                self._controls[row.client, workload.name] = row, control
            self._awaited -= 1
            return [] if self._awaited else self._spread_tasks(self.request.spread)

    def _spread_tasks(self, most: int) -> list[Callable[[], StepResult]]:
        # in the order of the request: clients end in any order
        requested: dict[str, set[RequestedApi]] = {
            each.name: set() for each in self.request.workloads
        }
        for (_, workload), (_, control) in self._controls.items():
            requested[workload].update(api for each in control for api in each.asked)
        chosen = spread(self.request.scenarios, requested, most)
        tasks: list[Callable[[], StepResult]] = [
            partial(self._faulty, row, named, control)
            for named in self.request.scenarios
            for row, control in self._controls.values()
            if row.workload.name in chosen[named[0]]
        ]
        # mixed: cells of one scenario wait at the same time, and those of one workload compute
        random.Random(0).shuffle(tasks)  # noqa: S311 (no secret)
        return tasks

    def _faulty(self, row: Row, named: Named, control: tuple[Trial, ...]) -> StepResult:
        if self.stop.is_set():
            return [], []
        cell = self._cell(row, named, control)
        return [] if cell is None else [cell], []

    def _cell(
        self, row: Row, named: Named | None, control: tuple[Trial, ...], *, again: bool = False
    ) -> Cell | None:
        """Return a finished cell; None: the run is stopped."""
        name, scenario = named or (CONTROL, None)
        text = "" if scenario is None else scenario.meta()["scenario"]
        cell, command = row.cell(name), self.request.commands.get(row.client, "")
        known = self.folder.known(cell, self.brokers.requested, text, command)
        if known and not again and not self.request.again and self._suffices(known):
            return known
        if self._unreached >= UNREACHED_CELLS:
            return self._over(row, name, Verdict(word="not run", why=GONE))
        once, folder = bool(row.workload.seconds), self.folder.begin(cell, text)
        try:
            with ended_by(self.stop), self._brokers(row.workload) as brokers:
                run = CellRun(
                    row,
                    scenario,
                    control,
                    self._setup(row, brokers, folder),
                    doubt=DOUBT if brokers.requested == LIBRDKAFKA else "",
                    drawn=self.request.drawn
                    and not name.startswith(CUT)
                    and "zstd" in codecs(brokers.version),  # older ones lack more, such as headers
                    stop=self.stop,
                )
                result, trials = run.trials(1 if once else self.request.trials)
                smallest = None
                if not once:
                    with contextlib.suppress(OSError, LogError):  # what was found stays found
                        smallest = run.smallest(result, trials)
        except RunStopped:
            return None
        except (OSError, LogError, BootError, UnavailableError) as problem:
            if self.stop.is_set():
                return None
            # one with a number is of a file or a process of this machine
            if getattr(problem, "errno", None) is None:
                self._unreached += 1
            reason = TROUBLE + " ".join(str(problem).split())
            return self._over(row, name, Verdict(word="not run", why=reason))
        if trials:
            self._unreached = 0
        return self._over(row, name, result, trials, smallest)

    def _suffices(self, known: Cell) -> bool:
        """Return whether a stored cell has the requested runs: as many, and of plain traffic if requested."""
        if not known.trials or known.verdict.word == "not met":
            return True
        once = bool(find(known.workload).seconds)
        plain = all(each.drawn == known.trials[0].drawn for each in known.trials)
        return (self.request.drawn or plain) and (once or len(known.trials) >= self.request.trials)

    def _brokers(self, workload: Workload) -> contextlib.AbstractContextManager[Brokers]:
        """Return the brokers of a cell: its own, if it restarts them."""
        if workload.during == ROLLING_RESTART:
            return Brokers(self.brokers.requested, restart=True)
        return contextlib.nullcontext(self.brokers)

    def _setup(self, row: Row, brokers: Brokers, folder: Path) -> TrialSetup:
        version, is_program = brokers.version, row.client in self.request.commands
        parameters = client_parameters(version, row.client)
        if is_program and version:
            parameters = {"broker": version}
        return TrialSetup(
            brokers.bootstrap(),
            folder,
            brokers.makes,
            librdkafka_settings(version),
            {"codecs": codecs(version), **parameters},
            cluster=brokers.cluster,
            keyed=not is_program,
        )

    def _over(
        self,
        row: Row,
        scenario: str,
        result: Verdict,
        trials: Sequence[Trial] = (),
        smallest: Draw | None = None,
    ) -> Cell:
        cell = Cell(
            client=row.client,
            workload=row.workload.name,
            scenario=scenario,
            broker=self.brokers.requested,
            verdict=result,
            trials=tuple(trials),
            command=self.request.commands.get(row.client, ""),
            smallest=smallest,
            needs=() if smallest is None else features(smallest, row.workload),
        )
        return self.folder.add(cell)

    def _not_run(
        self, client: str, workload: Workload, reason: str, names: Sequence[str]
    ) -> list[Cell]:
        """Return and store cells of a row that can't run. names: of their scenarios."""
        broker, word = self.brokers.requested, Verdict(word="not run", why=reason)
        cells = [
            Cell(
                client=client,
                workload=workload.name,
                scenario=name,
                broker=broker,
                verdict=word,
                command=self.request.commands.get(client, ""),
            )
            for name in names
        ]
        return [self.folder.add(cell) for cell in cells]
