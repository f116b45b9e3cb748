"""The whole: record, choose, and run what has not been run yet."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from barnabas.experiments.explore.bench import Bench, run
from barnabas.experiments.explore.cuts import Cut, file_name, scenario_text
from barnabas.experiments.explore.folder import Folder
from barnabas.experiments.explore.plan import Plan, Planned, plan
from barnabas.experiments.explore.recording import steps
from barnabas.experiments.explore.result import Result
from barnabas.experiments.explore.target import Target, target
from barnabas.proxy.faults import FAULTS, Fault

RECORDING_LIMIT: Final = 300.0
"""Seconds that the recording may take if nobody says otherwise."""


REPEATED: Final = 5
"""So many runs that failed are repeated ..."""

TIMES: Final = 3
"""... so often."""


class RecordingError(RuntimeError):
    """The program fails without any fault, and how."""


def record(bench: Bench, folder: Folder, limit: float | None) -> Result:
    """The run without faults: done now unless it has been. One that has findings is not kept: no fault
    could be held to it. Raises RecordingError if the program fails, and as `run` does."""
    known = folder.results.get("")
    if known is not None and not known.failed:
        return known
    ran = run(bench, None, limit or RECORDING_LIMIT, folder.run(""))
    if ran.result.exit_code != 0:
        said = f": {ran.result.last_line}" if ran.result.last_line else ""
        output = folder.run("") / "output.txt"
        raise RecordingError(f"without any fault: {ran.result.outcome}{said} (see {output})")
    if not ran.result.failed:
        folder.record(ran.exchanges, ran.result)
    return ran.result


def choose(
    folder: Folder,
    cuts: Sequence[Cut],
    *,
    apis: frozenset[str] | None,
    per_api: int,
    limit: int,
    faults: tuple[Fault, ...] = FAULTS,
) -> Plan:
    """What is to be run, of what was recorded, and how much is left out: see `plan`."""
    found = steps(folder.recording, folder.results[""].run)
    chosen = plan(found.steps, cuts, apis=apis, per_api=per_api, limit=limit, faults=faults)
    for reason, count in found.left_out.items():
        chosen.left_out[reason] += count * len(cuts)
    return chosen


def explored(
    bench: Bench,
    folder: Folder,
    planned: Sequence[Planned],
    limit: float | None,
    faults: tuple[Fault, ...] = FAULTS,
) -> Iterator[Result]:
    """The results of all that is planned, in that order; what was done before is not done again. The
    first few that fail are repeated, to say how reliably they do.

    limit: seconds that a run may take; None: five times the recording, and at least 30. Raises as
    `run` does.
    """
    limit = limit or max(30.0, 5 * folder.results[""].seconds)
    for one in planned:
        name = file_name(*one)
        text = scenario_text(*one)
        met = target(text, name, faults)
        if name not in folder.results:
            folder.scenario(name).write_text(text, encoding="utf-8")
            folder.add(run(bench, met, limit, folder.run(name)).result)
        repeated = sum(bool(result.repeated) for result in folder.results.values())
        found = folder.results[name]
        if found.failed and not found.repeated and repeated < REPEATED:
            folder.add(_repeated(bench, met, limit, found))
        yield folder.results[name]


def _repeated(bench: Bench, met: Target, limit: float, found: Result) -> Result:
    """The result of a run that failed, with how often it did so again."""
    reproduced = 0
    for _ in range(TIMES):
        with tempfile.TemporaryDirectory(prefix="barnabas-explore-") as place:
            again = run(bench, met, limit, Path(place) / "run").result
            reproduced += again.kinds >= found.kinds
    return found.model_copy(update={"repeated": TIMES, "reproduced": reproduced})
