"""A whole exploration: record, choose, and run the missing runs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from barnabas.experiments.explore.bench import Bench, run
from barnabas.experiments.explore.checks.outputs import Expectation, observed
from barnabas.experiments.explore.cuts import Cut, file_name, scenario_text
from barnabas.experiments.explore.folder import Folder
from barnabas.experiments.explore.history import read
from barnabas.experiments.explore.plan import Plan, Planned, plan
from barnabas.experiments.explore.recording import steps
from barnabas.experiments.explore.result import Result
from barnabas.experiments.explore.target import Target, target
from barnabas.proxy.faults import FAULTS, Fault

RECORDING_LIMIT: Final = 300.0
"""The default limit of the recording in seconds."""


REPEATED_RUNS: Final = 5
"""Failing runs to repeat ..."""

REPETITIONS: Final = 3
"""... so often."""


class RecordingError(RuntimeError):
    """The program fails without any fault; the message says how."""


def record(bench: Bench, folder: Folder, limit: float | None) -> Result:
    """Return the result of a run without faults, from the folder or from a new run.

    A run with findings is not stored, since the faults' runs could not be compared with it. Its program may
    have failed, too.

    Raises:
        RecordingError: The program fails. The errors of `run` are raised, too.
    """
    known = folder.results.get("")
    if known is not None and not known.failed:
        return known
    ran = run(bench, None, limit or RECORDING_LIMIT, folder.run(""))
    if ran.result.exit_code != 0 and not ran.result.findings:
        last_line = f": {ran.result.last_line}" if ran.result.last_line else ""
        output = folder.run("") / "output.txt"
        raise RecordingError(f"without any fault: {ran.result.outcome}{last_line} (see {output})")
    if not ran.result.failed:
        folder.record(ran.exchanges, ran.result)
    return ran.result


def recorded_outputs(folder: Folder) -> tuple[Expectation, ...]:
    """Return the expectations that the history of the recording suggests, see `observed`."""
    history = read(folder.run("") / "history.jsonl")
    return () if history is None else observed(history, folder.results[""].run)


def choose(
    folder: Folder,
    cuts: Sequence[Cut],
    *,
    apis: frozenset[str] | None,
    per_api: int,
    limit: int,
    faults: tuple[Fault, ...] = FAULTS,
) -> Plan:
    """Plan the runs for a recording, see `plan`."""
    recorded = steps(folder.recording, folder.results[""].run)
    chosen = plan(recorded.steps, cuts, apis=apis, per_api=per_api, limit=limit, faults=faults)
    for reason, count in recorded.left_out.items():
        chosen.left_out[reason] += count * sum(not cut.apis for cut in cuts)
    return chosen


def explore(
    bench: Bench,
    folder: Folder,
    planned: Sequence[Planned],
    limit: float | None,
    faults: tuple[Fault, ...] = FAULTS,
) -> Iterator[Result]:
    """Yield the results of the planned runs in order, from the folder or from new runs.

    The first few failing runs are repeated, to show how reliably they fail.

    Args:
        bench: parameters of all runs.
        folder: with the recording.
        planned: the runs.
        limit: seconds for a run; None: five times the recording, at least 30.
        faults: known kinds of faults.

    Raises the errors of `run`.
    """
    limit = limit or max(30.0, 5 * folder.results[""].seconds)
    for planned_run in planned:
        name = file_name(*planned_run)
        text = scenario_text(*planned_run)
        fault_target = target(text, name, faults)
        if name not in folder.results:
            folder.scenario(name).write_text(text, encoding="utf-8")
            folder.add(run(bench, fault_target, limit, folder.run(name)).result)
        repeated = sum(bool(other.repeated) for other in folder.results.values())
        result = folder.results[name]
        if result.failed and not result.repeated and repeated < REPEATED_RUNS:
            folder.add(_repeated(bench, fault_target, limit, result))
        yield folder.results[name]


def _repeated(bench: Bench, fault_target: Target, limit: float, result: Result) -> Result:
    """Return the result of a failing run, with the number of times that it failed again."""
    reproduced = 0
    for _ in range(REPETITIONS):
        with tempfile.TemporaryDirectory(prefix="barnabas-explore-") as folder:
            again = run(bench, fault_target, limit, Path(folder) / "run").result
            reproduced += again.kinds >= result.kinds
    return result.model_copy(update={"repeated": REPETITIONS, "reproduced": reproduced})
