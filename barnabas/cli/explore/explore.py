"""`barnabas explore`: runs a program under one fault after another, until its plan is done or Ctrl-C."""

from __future__ import annotations

import contextlib
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self, TypeVar

from barnabas.addresses import parse_servers
from barnabas.cli.console.output import Output
from barnabas.cli.console.progress import progress_bar
from barnabas.cli.explore.options import ExploreOptions
from barnabas.cli.explore.report import Report
from barnabas.cli.plugins.faults import own_faults
from barnabas.experiments.explore.bench import Bench, run
from barnabas.experiments.explore.command import CommandError
from barnabas.experiments.explore.cuts import CUTS, Cut, cuts, file_name
from barnabas.experiments.explore.errors import ERRORS, known_errors
from barnabas.experiments.explore.exploration import (
    RECORDING_LIMIT,
    RecordingError,
    choose,
    record,
    recorded_outputs,
)
from barnabas.experiments.explore.exploration import (
    explore as explore_runs,
)
from barnabas.experiments.explore.folder import Folder, FolderError
from barnabas.experiments.explore.history import HistoryError
from barnabas.experiments.explore.read_log import PATIENCE, LogError, ends, id_of
from barnabas.experiments.explore.target import Target, target
from barnabas.experiments.explore.untried import untried
from barnabas.proxy.faults import FAULTS, Fault
from barnabas.proxy.scenario.file import ScenarioError
from barnabas.stop_signals import interruptible
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, INTERRUPTED, Trouble

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Job:
    """An exploration: its options, the known faults, and its output."""

    options: ExploreOptions
    faults: tuple[Fault, ...] = FAULTS
    output: Output = field(default_factory=Output)

    @classmethod
    def of(cls, options: ExploreOptions) -> Self:
        """Return the exploration of these options. Raises Trouble."""
        parse_servers(options.bootstrap_server)
        return cls(options, own_faults(options.faults))


def explore(job: Job) -> int:
    """Explore, and print the results; return the exit code. Raises Trouble."""
    bench = Bench(
        job.options.command,
        job.options.bootstrap_server,
        id_of(job.options.where),
        tuple(job.options.expect),
    )
    try:
        with interruptible():
            return _only(job, bench) if job.options.only else _all(job, bench)
    except OSError as problem:
        path = problem.filename or job.options.out
        raise Trouble(f"{path}: {problem.strerror}", COULD_NOT_RUN) from None
    except (CommandError, LogError, RecordingError, HistoryError) as problem:
        raise Trouble(str(problem), COULD_NOT_RUN) from None


def _all(job: Job, bench: Bench) -> int:
    template = _template(job)
    folder = _folder(job)
    report = _report(job, folder.path)
    try:
        job.output.note(f"asking {bench.bootstrap} for its partitions ({PATIENCE:.0f} s at most)")
        ends(bench.bootstrap)  # reports an unreachable cluster before anything else
        with progress_bar(job.output) as progress:
            task = progress.add_task("recording", total=None)
            first = record(bench, folder, job.options.time_limit)
            report.add(first)
            if first.failed:
                report.close()
                return FINDINGS
            bench = bench._replace(writes_history=first.history)
            if not bench.expectations:
                bench = bench._replace(expectations=recorded_outputs(folder))
                report.expectations = bench.expectations
                for expectation in bench.expectations:
                    job.output.note(f"as in the recording: --expect {expectation}")
            planned, left_out = choose(
                folder,
                template,
                apis=job.options.apis,
                per_api=job.options.per_api,
                limit=job.options.limit,
                faults=job.faults,
            )
            if not planned:
                raise Trouble(_nothing(job, left_out))
            progress.update(task, total=len(planned))
            for result in explore_runs(bench, folder, planned, job.options.time_limit, job.faults):
                report.add(result)
                progress.update(task, advance=1, description=f"{result.api} {result.cut}")
        report.close(
            untried(
                left_out,
                {exchange.api for exchange in folder.recording},
                [run for run in planned if folder.results[file_name(*run)].reached],
                known_errors(),
                own_template=job.options.scenario is not None,
            )
        )
        if report.failed:
            return FINDINGS
        reached = any(folder.results[file_name(*run)].reached for run in planned)
        return FINE if reached else COULD_NOT_RUN
    except KeyboardInterrupt:
        report.close()
        job.output.note("interrupted: run the same command to continue")
        return FINDINGS if report.failed else INTERRUPTED
    finally:
        folder.close()


def _only(job: Job, bench: Bench) -> int:
    """Run the program under the given scenario files only."""
    targets = [_target(path, job.faults) for path in job.options.only]
    report = _report(job, None)
    finished = False
    with contextlib.suppress(KeyboardInterrupt):
        for each in targets:
            with tempfile.TemporaryDirectory(prefix="barnabas-explore-") as folder:
                limit = job.options.time_limit or RECORDING_LIMIT
                report.add(run(bench, each, limit, Path(folder) / "run").result)
        finished = True
    report.close()
    return FINDINGS if report.failed else FINE if finished else INTERRUPTED


def _report(job: Job, folder: Path | None) -> Report:
    options = job.options
    repeat = ["barnabas", "explore", "-b", options.bootstrap_server]
    if options.where != "value":
        repeat += ["--id", options.where]
    if options.time_limit is not None:
        repeat += ["--time-limit", f"{options.time_limit:g}s"]
    if options.faults is not None:
        repeat += ["--faults", str(options.faults)]
    return Report(job.output, options.as_json, folder, repeat, options.command, options.expect)


def _template(job: Job) -> tuple[Cut, ...]:
    if job.options.scenario is None:
        return (*cuts(CUTS, "the three cuts"), *ERRORS)
    return _read(
        job.options.scenario, lambda text: cuts(text, str(job.options.scenario), job.faults)
    )


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
    settings = {
        "command": job.options.command,
        "--bootstrap-server": job.options.bootstrap_server,
        "--scenario": None
        if job.options.scenario is None
        else job.options.scenario.read_text(encoding="utf-8"),
        "--id": job.options.where,
        "--expect": [*map(str, job.options.expect)] or None,
        "--time-limit": job.options.time_limit,
    }
    try:
        return Folder(job.options.out, settings)
    except FolderError as problem:
        raise Trouble(str(problem)) from None
    except OSError as problem:
        raise Trouble(
            f"can't write to {job.options.out}: {problem.strerror}; choose another --out"
        ) from None


def _nothing(job: Job, left_out: Counter[str]) -> str:
    if job.options.apis is not None:
        return f"the program made no exchange of {', '.join(sorted(job.options.apis))}; see --api"
    reasons = ", ".join(f"{count} {reason}" for reason, count in left_out.items())
    return (
        f"the program made no exchange to which a fault applies{f': {reasons}' if reasons else ''}"
    )
