"""The run of a cell: its trials, its verdict, and the smallest traffic with which it fails."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from barnabas.experiments.clients.cell import cell_name
from barnabas.experiments.clients.draws import Draw, draw, features, plain
from barnabas.experiments.clients.relevance import may_affect
from barnabas.experiments.clients.shrinking import shrink
from barnabas.experiments.clients.trial import Trial, trial
from barnabas.experiments.clients.trial_setup import TrialSetup
from barnabas.experiments.clients.verdict import Verdict, control_verdict, verdict
from barnabas.experiments.clients.workloads import Workload
from barnabas.peers.clients.client import Program
from barnabas.proxy.scenario.file import Scenario

UNMET_TRIALS: Final = 2
"""Trials without a fired rule after which no other is made."""


SHRINKING_RUNS: Final = 12
"""Runs at most to find the smallest traffic with which a cell fails."""

SHRINKING_SECONDS: Final = 240.0
"""Seconds that these runs may take, as long as each takes what the first took."""

SHRINKING: Final = "shrinking"
"""The folder of such a run, next to those of the trials."""

SMALLEST: Final = "smallest"
"""The folder of the last of these runs that failed."""

NOTHING: Final = "its requests without faults match no rule: it was not run"

UNSHRUNK: Final = ("fine", "slow", "not met", "not run")
"""Verdicts that no traffic explains."""


class Row(NamedTuple):
    """A client with a workload."""

    client: str
    program: Program
    workload: Workload

    def cell(self, scenario: str) -> str:
        """Return the name of the row's cell under a scenario."""
        return cell_name(self.client, self.workload.name, scenario)


@dataclass(frozen=True)
class CellRun:
    """The run of a cell.

    scenario: None: without faults. control: the trials without faults that the client passed. setup: brokers,
    and the folder of the cell. doubt: added to a reason without any fault. drawn: whether traffic is drawn
    from the trial's number, except in the first trial, and of those only which the client passed without
    faults. stop: ends the run when it is set.
    """

    row: Row
    scenario: Scenario | None
    control: tuple[Trial, ...]
    setup: TrialSetup
    doubt: str
    drawn: bool
    stop: threading.Event

    def trials(self, count: int) -> tuple[Verdict, list[Trial]]:
        """Return the verdict on a cell, and its trials."""
        if self.scenario and not may_affect(
            self.scenario, {api for each_trial in self.control for api in each_trial.asked}
        ):
            return Verdict(word="not met", why=NOTHING), []
        trials: list[Trial] = []
        for number in range(count):
            trials.append(self._trial(number, self._drawn(number), str(number)))
            if (
                len(trials) >= UNMET_TRIALS
                and not any(each_trial.fired for each_trial in trials)
                and self.scenario
            ):
                break
        return self._verdict(trials), trials

    def smallest(self, result: Verdict, trials: Sequence[Trial]) -> Draw | None:
        """Return the smallest traffic with the verdict's worst observation.

        None: the plain traffic, or it is no matter of traffic, since the same traffic did not fail again. The
        last failed run with it remains in the folder SMALLEST.
        """
        if not result.promised or result.word in UNSHRUNK:
            return None
        first = trials[0]
        number = next((n for n, each in enumerate(trials) if self._fails(result, first, each)), 0)
        drawn = trials[number].drawn
        if drawn is None or not features(drawn, self.row.workload):
            return None

        def fails(candidate: Draw) -> bool:
            run = self._trial(number, candidate, SHRINKING)
            if not self._fails(result, first, run):
                return False
            shutil.rmtree(self.setup.folder / SMALLEST, ignore_errors=True)
            (self.setup.folder / SHRINKING).rename(self.setup.folder / SMALLEST)
            return True

        runs = min(SHRINKING_RUNS, int(SHRINKING_SECONDS / max(trials[number].seconds, 1)))
        smallest = shrink(drawn, self.row.workload, fails, runs - 1) if fails(drawn) else None
        shutil.rmtree(self.setup.folder / SHRINKING, ignore_errors=True)
        return smallest

    def _fails(self, result: Verdict, first: Trial, run: Trial) -> bool:
        """Return whether a run has the verdict's worst observation. first: the trial with plain traffic."""
        observations = self._verdict([run] if self.scenario else [first, run]).observations
        return any(each.word == result.word and each.promised for each in observations)

    def _drawn(self, number: int) -> Draw:
        workload = self.row.workload
        setup = self.setup._replace(drawn=draw(number, workload) if number and self.drawn else None)
        drawn = setup.traffic(workload)
        fit = not self.scenario or any(each.drawn == drawn for each in self.control)
        return drawn if fit else plain(workload)

    def _trial(self, number: int, drawn: Draw, folder: str) -> Trial:
        scenario = self.scenario
        setup = self.setup._replace(folder=self.setup.folder / folder, drawn=drawn)
        seeded = scenario and scenario.model_copy(update={"seed": scenario.seed + number})
        return trial(self.row.program, self.row.workload, seeded, setup, self.stop)

    def _verdict(self, trials: Sequence[Trial]) -> Verdict:
        workload = self.row.workload
        if self.scenario:
            return verdict(workload, self.control, trials, self.scenario)
        result = control_verdict(workload, trials)
        if result.word == "fine" or not self.doubt:
            return result
        return result.model_copy(update={"why": result.why + self.doubt})
