"""`barnabas analyze`: captures to tables and a report, on Sail or Spark."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event
from types import MappingProxyType
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from barnabas.captures.files import private
from barnabas.captures.files.capture_folder import Listing
from barnabas.cli.analyze.early_findings import tell_findings
from barnabas.cli.analyze.options import AnalyzeOptions, EngineChoice
from barnabas.cli.analyze.progress import StepProgress, step_progress
from barnabas.cli.analyze.prompt_stop import prompt_stop
from barnabas.cli.analyze.summary import as_json, counted, lines
from barnabas.cli.captures.files import capture_files
from barnabas.cli.captures.input import opened
from barnabas.cli.captures.remarks import no_captures
from barnabas.cli.captures.tls_keys import read_keys
from barnabas.cli.console.output import Output
from barnabas.pipeline.reading.paths import SKIPPED
from barnabas.pipeline.spark.errors import UnavailableError, check_space, no_space, reason
from barnabas.pipeline.spark.masters import Master, parse_master
from barnabas.pipeline.tables.folders import (
    ON_REQUEST,
    Partition,
    checked_path,
    earlier,
    held,
    partitions,
)
from barnabas.pipeline.tables.limits import exceeded
from barnabas.stop_signals import delay_stop
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, INTERRUPTED, Trouble, os_errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from barnabas.pipeline.analyze import Outcome

OURS: Final = frozenset(
    (
        "exchanges",
        "inside",
        "errors",
        "connections",
        "notes",
        "quality",
        *ON_REQUEST,
        "analyses",
        "delta",
        "report.html",
        "report.part",
        "tables.sql",
        "_batches",
        "_lock",
        "_runs",
        "_sources",
        "_state",
    )
)
"""The names in a folder of an earlier run, which are written again."""


NOTHING: Final[Mapping[Path, str]] = MappingProxyType({})
"""No file was left out."""

AT_ONCE: Final = 4 << 20
"""Bytes of captures up to which this process makes the tables while Spark starts. Sail runs in this process,
so tables of any size are made here."""


def analyze(options: AnalyzeOptions) -> int:
    """Write the tables and the report, and print a summary; return the exit code. Raises Trouble.

    As in `barnabas check`, notes alone do not make the exit code FINDINGS.
    """
    output = Output()
    check(options)
    listing = capture_files(options.paths)
    files, skipped = check_captures(options, listing)
    for path, cause in skipped.items():
        output.note(f"left out: {path} is {cause}")
    for remark in () if options.skip_bad else no_captures(listing.others):
        output.note(remark)
    try:
        with (
            prompt_stop(
                f"interrupted: {options.folder} is not complete; run the same command to start again",
                output,
            ),
            taken(options.folder, "capture"),
            step_progress(output) as progress,
            _analyzed(options, files, skipped, progress, output) as outcome,
        ):
            progress.end()
            return printed(outcome, options, output)  # before Spark ends
    except KeyboardInterrupt:
        return INTERRUPTED


def check(options: AnalyzeOptions) -> Master:
    """Return the Spark master. Raises Trouble for an invalid master, and for a format that is unavailable."""
    if options.table_format is not None:
        check_delta()
    out = str(options.folder.resolve())
    if options.table_format == "delta" and unquote(out) != out:
        # delta-rs unquotes the path once too often, and only in some places: quoting does not help
        raise Trouble(f"--format delta: delta-rs can't open {out}: use a name without %")
    try:
        return parse_master(options.master)
    except ValueError as problem:
        raise Trouble(f"--master: {problem}") from None


def check_delta() -> None:
    """Raise Trouble if the package for Delta tables is missing."""
    if importlib.util.find_spec("deltalake") is None:
        raise Trouble(
            "--format delta needs the package deltalake: install barnabas with the extra 'delta'",
            COULD_NOT_RUN,
        )


def check_captures(options: AnalyzeOptions, listing: Listing) -> tuple[list[Path], dict[Path, str]]:
    """Return the captures and, with --skip-bad, the reasons why other files can't be read.

    Raises Trouble for a file that is no capture, or whose name Spark can't use.
    """
    files = [*listing.captures, *(listing.others if options.skip_bad else ())]
    keys, bad = read_keys(options.tls_keys), dict[Path, str]()
    for path in files:
        try:
            str(path).encode()
            opened(path, keys=keys)
        except UnicodeEncodeError:
            raise Trouble(f"can't analyze {path}: its name is not UTF-8; rename it") from None
        except Trouble as problem:
            if len(files) == 1 or not path.is_file():
                raise
            if not options.skip_bad:
                raise Trouble(f"{problem}; --skip-bad leaves it out") from None
            bad[path] = str(problem).removeprefix(f"{path} is ")
    good = [path for path in files if path not in bad]
    if not good:
        raise Trouble("none of the files is a capture")
    if len(good) > 1:  # they are read as one
        opened(*good, keys=keys)
    return good, bad


def printed(
    outcome: Outcome, options: AnalyzeOptions, output: Output, next_batch: int | None = None
) -> int:
    """Print the summary of an analysis; return the exit code.

    next_batch: The number of the batch after the analyzed ones; None: all were analyzed.
    """
    above = exceeded(outcome.quality, options.limits)
    findings = counted(outcome, options.checks)
    if options.as_json:
        output.raw(as_json(outcome, findings, above, next_batch))
    else:
        for line in lines(outcome, findings, above, next_batch):
            output.out.print(line)
    severities = {row["severity"] for row in findings}
    unreadable = any(row["kind"] == SKIPPED for row in outcome.results["unread"].rows)
    return FINDINGS if above or unreadable or severities - {"note"} else FINE


@contextmanager
def taken(out: Path, by: Partition) -> Iterator[None]:
    """Lock a folder for tables that are partitioned by captures or by batches.

    Raises:
        Trouble: The folder can't be made, has other files or tables, or is locked by another run. Nothing was
            written.
    """
    free(out)
    if partitions(out) - {by}:
        others = "without --follow" if by == "batch" else "with --follow"
        raise Trouble(f"--out {out} has tables of a run {others}: choose another folder")
    if earlier(out):
        raise Trouble(f"--out {out} has tables of an earlier barnabas: choose another folder")
    with ExitStack() as stack:
        with os_errors(f"--out {out}"):
            ours = stack.enter_context(held(out))
        if not ours:
            raise Trouble(
                f"--out {out} is being written by another run: wait for it, or choose another folder",
                COULD_NOT_RUN,
            )
        yield


def free(out: Path) -> None:
    """Raise Trouble if a folder has other files, or can't be made."""
    try:
        checked_path(out.resolve())
    except ValueError as problem:
        raise Trouble(f"--out: {problem}") from None
    try:
        private.folder(out)
        others = sorted(path.name for path in out.iterdir() if path.name not in OURS)
    except FileExistsError:
        raise Trouble(f"--out {out} is a file: tables and report need a folder") from None
    except OSError as problem:
        raise Trouble(f"--out {out}: {problem.strerror}") from None
    if others:
        raise Trouble(f"--out {out} holds other files ({others[0]}): choose a new folder")


@contextmanager
def _analyzed(
    options: AnalyzeOptions,
    files: Sequence[Path],
    skipped: Mapping[Path, str],
    progress: StepProgress,
    output: Output,
) -> Iterator[Outcome]:
    """Analyze captures, and yield the outcome while Spark still runs."""
    engine = options.chosen_engine
    if options.engine is EngineChoice.AUTO and not options.needs_spark:
        output.note(f"engine: {engine} (--engine)")
    embedded = parse_master(options.master).kind == "embedded"
    if engine == "spark" and (not embedded or size_of(files) > AT_ONCE):
        with session_of(options, progress, files) as spark:
            yield work(spark, options, files, progress, skipped)
        return
    over = Event()

    def go_on() -> None:
        if over.is_set():
            raise CancelledError

    with ThreadPoolExecutor(1) as beside:
        try:
            # the checks of barnabas.captures report findings before Spark has started
            arguments = files, options.tls_keys, progress, output, options.checks
            beside.submit(tell_findings, *arguments, go_on)
            tables = beside.submit(_tables, None, options, files, go_on=go_on, skipped=skipped)
            with session_of(options, progress, files) as spark:
                tables.result()
                yield analyses(spark, options, progress)
        finally:
            over.set()  # the thread ends after its batch; the folder stays locked until then


@contextmanager
def session_of(
    options: AnalyzeOptions, progress: StepProgress, files: Iterable[Path] | None
) -> Iterator[SparkSession]:
    """Start Spark as the options say.

    files: The captures, as far as they are known, whose size decides on Spark's settings; None: unknown.

    Raises:
        Trouble: Spark is unavailable or fails, or the disk is full, now or within `with`.
    """
    with delay_stop():
        from barnabas.pipeline.spark.session import LIGHT, LIGHT_UP_TO, session

    engine = options.chosen_engine
    progress.step(0, 1, f"starting {engine.capitalize()}")
    try:
        if engine == "sail":
            with session(engine=engine) as spark:
                yield spark
            return
        check_space()
        ours: Mapping[str, str] = {}
        if parse_master(options.master).kind == "embedded":  # clusters have settings of their own
            ours = LIGHT if files is None or size_of(files) < LIGHT_UP_TO else {}
        with session(options.master, {**ours, **dict(options.conf)}) as spark:
            yield spark
    except UnavailableError as problem:
        message = no_space(str(problem), options.folder) or str(problem)
        raise Trouble(message, COULD_NOT_RUN) from None
    except BrokenPipeError:
        raise  # the reader of stdout has closed it
    except OSError as problem:
        prefix = f"{problem.filename}: " if problem.filename else ""
        message = no_space(str(problem), options.folder) or f"{prefix}{problem.strerror or problem}"
        raise Trouble(message, COULD_NOT_RUN) from None


def size_of(files: Iterable[Path]) -> int:
    """Return the bytes of all files. Raises OSError."""
    return sum(path.stat().st_size for path in files)


def _tables(
    spark: SparkSession | None,
    options: AnalyzeOptions,
    files: Sequence[Path],
    progress: StepProgress | None = None,
    go_on: Callable[[], None] | None = None,
    skipped: Mapping[Path, str] = NOTHING,
) -> None:
    from barnabas.pipeline.tables.decoded_bodies import Bodies
    from barnabas.pipeline.tables.tables import TableOptions, write

    # Spark's workers may run in another folder
    out, files = options.folder.resolve(), [path.resolve() for path in files]
    secrets = [options.tls_keys.read_bytes()] if options.tls_keys else []
    step = None if progress is None else progress.step
    bodies = Bodies(options.json_bodies, options.blob)
    table_options = TableOptions(
        secrets=secrets, also=options.tables, bodies=bodies, skipped=skipped
    )
    written = write(spark, files, out, table_options, progress=step, go_on=go_on)
    if options.table_format is not None:
        from barnabas.pipeline.tables.delta import commit_capture

        commit_capture(out, written.capture)


def analyses(spark: SparkSession, options: AnalyzeOptions, progress: StepProgress) -> Outcome:
    """Analyze the tables of the folder and write its report. Raises Trouble."""
    with watching(spark, options, progress):
        from barnabas.pipeline.analyze import analyze as analyze_tables

        return analyze_tables(spark, options.folder.resolve(), progress.step)


def work(
    spark: SparkSession,
    options: AnalyzeOptions,
    files: Sequence[Path],
    progress: StepProgress,
    skipped: Mapping[Path, str] = NOTHING,
) -> Outcome:
    """Write the tables of these files, then the analyses and the report of the folder. Raises Trouble."""
    with watching(spark, options, progress):
        _tables(spark, options, files, progress, skipped=skipped)
    return analyses(spark, options, progress)


@contextmanager
def watching(
    spark: SparkSession, options: AnalyzeOptions, progress: StepProgress
) -> Iterator[None]:
    """Show the progress of Spark's tasks. Raises Trouble for an error of Spark."""
    # these import pyspark, which is installed: Spark or Sail runs
    from pyspark.errors import PySparkException

    failures: tuple[type[Exception], ...] = (PySparkException,)
    if options.chosen_engine == "spark":
        from py4j.protocol import Py4JError

        failures = (PySparkException, Py4JError)

    from barnabas.pipeline.spark.progress import watched

    with watched(spark, progress.tasks):
        try:
            yield
        except failures as problem:
            engine = options.chosen_engine.capitalize()
            raise Trouble(
                f"{engine} failed: {reason(problem, options.folder)}", COULD_NOT_RUN
            ) from None
