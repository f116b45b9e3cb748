"""`barnabas explore`: a program under one fault after another, until Ctrl-C or its plan is done."""

from __future__ import annotations

import contextlib
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from barnabas.cli.console.counted import counted
from barnabas.cli.console.output import Output
from barnabas.cli.explore.report import Report
from barnabas.endings import interruptible
from barnabas.experiments.explore.bench import Bench, run
from barnabas.experiments.explore.command import CommandError
from barnabas.experiments.explore.cuts import CUTS, Cut, cuts
from barnabas.experiments.explore.exploration import (
    RECORDING_LIMIT,
    RecordingError,
    choose,
    explored,
    record,
)
from barnabas.experiments.explore.folder import Folder, FolderError
from barnabas.experiments.explore.history import HistoryError
from barnabas.experiments.explore.read_log import PATIENCE, LogError, ends, id_of
from barnabas.experiments.explore.target import Target, target
from barnabas.proxy.faults import FAULTS, Fault
from barnabas.proxy.scenario.file import ScenarioError
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, Trouble

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Job:
    """What the command line asked for."""

    command: list[str]
    bootstrap: str
    out: Path
    apis: frozenset[str] | None = None
    per_api: int = 10
    limit: int = 100
    time_limit: float | None = None
    template: Path | None = None
    faults: tuple[Fault, ...] = FAULTS
    id_where: str = "value"
    only: tuple[Path, ...] = ()
    as_json: bool = False
    output: Output = field(default_factory=Output)


def explore(job: Job) -> int:
    """Explore, and print what came of it; returns the exit code. Raises Trouble."""
    bench = Bench(job.command, job.bootstrap, id_of(job.id_where))
    try:
        with interruptible():
            return _only(job, bench) if job.only else _all(job, bench)
    except OSError as problem:
        where = problem.filename or job.out
        raise Trouble(f"{where}: {problem.strerror}", COULD_NOT_RUN) from None
    except (CommandError, LogError, RecordingError, HistoryError) as problem:
        raise Trouble(str(problem), COULD_NOT_RUN) from None


def _all(job: Job, bench: Bench) -> int:
    template = _template(job)
    folder = _folder(job)
    report = Report(job.output, job.as_json)
    try:
        job.output.note(f"asking {bench.bootstrap} for its partitions ({PATIENCE:.0f} s at most)")
        ends(bench.bootstrap)  # a cluster that is not there is said before anything else
        with counted(job.output) as progress:
            task = progress.add_task("recording", total=None)
            first = record(bench, folder, job.time_limit)
            report.add(first)
            if first.failed:
                report.close(Counter(), folder.path, job.command, job.bootstrap)
                return FINDINGS
            planned, left_out = choose(
                folder,
                template,
                apis=job.apis,
                per_api=job.per_api,
                limit=job.limit,
                faults=job.faults,
            )
            if not planned:
                raise Trouble(_nothing(job, left_out))
            progress.update(task, total=len(planned))
            for result in explored(bench, folder, planned, job.time_limit, job.faults):
                report.add(result)
                progress.update(task, advance=1, description=f"{result.api} {result.cut}")
        report.close(left_out, folder.path, job.command, job.bootstrap)
        return FINDINGS if report.failed else FINE
    except KeyboardInterrupt:
        report.close(Counter(), folder.path, job.command, job.bootstrap)
        job.output.note("interrupted: run the same command to continue")
        return FINDINGS if report.failed else COULD_NOT_RUN
    finally:
        folder.close()


def _only(job: Job, bench: Bench) -> int:
    """Runs under scenario files that an exploration, or a person, has written."""
    targets = [_target(path, job.faults) for path in job.only]
    report = Report(job.output, job.as_json)
    finished = False
    with contextlib.suppress(KeyboardInterrupt):
        for one in targets:
            with tempfile.TemporaryDirectory(prefix="barnabas-explore-") as place:
                limit = job.time_limit or RECORDING_LIMIT
                report.add(run(bench, one, limit, Path(place) / "run").result)
        finished = True
    report.close(Counter(), None, job.command, job.bootstrap)
    return FINDINGS if report.failed else FINE if finished else COULD_NOT_RUN


def _template(job: Job) -> tuple[Cut, ...]:
    if job.template is None:
        return cuts(CUTS, "the three cuts")
    return _read(job.template, lambda text: cuts(text, str(job.template), job.faults))


def _target(path: Path, faults: tuple[Fault, ...]) -> Target:
    return _read(path, lambda text: target(text, path.name, faults))


def _read(path: Path, parse: Callable[[str], T]) -> T:
    try:
        return parse(path.read_text(encoding="utf-8"))
    except (ScenarioError, ValueError) as problem:
        raise Trouble(str(problem)) from None
    except OSError as problem:
        raise Trouble(f"can't read the scenario {path}: {problem.strerror}") from None


def _folder(job: Job) -> Folder:
    what = {
        "command": job.command,
        "--bootstrap-server": job.bootstrap,
        "--scenario": None if job.template is None else job.template.read_text(encoding="utf-8"),
        "--id": job.id_where,
        "--time-limit": job.time_limit,
    }
    try:
        return Folder(job.out, what)
    except FolderError as problem:
        raise Trouble(str(problem)) from None
    except OSError as problem:
        raise Trouble(
            f"can't write to {job.out}: {problem.strerror}; choose another --out"
        ) from None


def _nothing(job: Job, left_out: Counter[str]) -> str:
    if job.apis is not None:
        return f"the program made no exchange of {', '.join(sorted(job.apis))}; see --api"
    said = ", ".join(f"{count} {reason}" for reason, count in left_out.items())
    return f"the program made no exchange that can be cut{f': {said}' if said else ''}"
