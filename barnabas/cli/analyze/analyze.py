"""`barnabas analyze`: captures to tables and a report, on Spark."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from barnabas.captures.files import private
from barnabas.cli.analyze.early import tell_findings
from barnabas.cli.analyze.options import AnalyzeOptions
from barnabas.cli.analyze.progress import Shown, shown
from barnabas.cli.analyze.summary import as_json, counted, lines
from barnabas.cli.captures.files import capture_files
from barnabas.cli.captures.input import opened
from barnabas.cli.captures.remarks import no_captures
from barnabas.cli.captures.tls_keys import read_keys
from barnabas.cli.console.output import Output
from barnabas.endings import interruptible, put_off
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
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, INTERRUPTED, Trouble

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from barnabas.pipeline.analyze import Outcome

PACKAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "delta": ("deltalake",),
    "iceberg": ("pyiceberg", "sqlalchemy"),
}
"""What each table format needs, which an extra of its name brings."""

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
        *PACKAGES,
        "report.html",
        "report.part",
        "tables.sql",
        "_arrivals",
        "_lock",
        "_runs",
        "_sources",
        "_state",
        "_checkpoint",
    )
)
"""What a folder of before has in it: it is written again."""


LITTLE: Final = 32 << 20
"""Bytes of captures that are not worth compiling for."""

AT_ONCE: Final = 4 << 20
"""Bytes of captures whose tables are made here, in the time that Spark takes to start."""


def analyze(asked: AnalyzeOptions, output: Output | None = None) -> int:
    """Write tables and report, and print what they come to; returns the exit code. Raises Trouble.

    As for `barnabas check`, notes alone are no findings in the sense of the exit code.
    """
    output = output or Output()
    check(asked)
    files, others = capture_files(asked.paths)
    check_captures(asked, files)
    for remark in no_captures(others):
        output.note(remark)
    try:
        with (
            interruptible(),
            taken(asked.folder, "capture"),
            shown(output) as progress,
            _analyzed(asked, files, progress, output) as outcome,
        ):
            progress.end()
            return printed(outcome, asked, output)  # nobody waits for Spark to end
    except KeyboardInterrupt:
        output.note(
            f"interrupted: {asked.folder} is not complete; run the same command to start again"
        )
        return INTERRUPTED


def check(asked: AnalyzeOptions) -> Master:
    """Return where Spark is to run. Raises Trouble for a master or a format that can't be had."""
    if asked.table_format is not None:
        installed(asked.table_format)
    out = str(asked.folder.resolve())
    if asked.table_format == "delta" and unquote(out) != out:
        # it unquotes the path once too often, and no quoting helps: not all of it does
        raise Trouble(f"--format delta: delta-rs finds nothing below {out}: use a name without %")
    try:
        return parse_master(asked.master)
    except ValueError as problem:
        raise Trouble(f"--master: {problem}") from None


def installed(table_format: str) -> None:
    """Raises Trouble if a package is missing that the format needs."""
    for package in PACKAGES[table_format]:
        if importlib.util.find_spec(package) is None:
            raise Trouble(
                f"--format {table_format} needs the package {package}: "
                f"pip install 'barnabas[{table_format}]'",
                COULD_NOT_RUN,
            )


def check_captures(asked: AnalyzeOptions, files: Iterable[Path]) -> None:
    """Raises Trouble for what is no capture, or is called so that Spark can't name it."""
    for path in files:
        try:
            str(path).encode()
        except UnicodeEncodeError:
            raise Trouble(f"can't analyze {path}: its name is not UTF-8; rename it") from None
    opened(*files, keys=read_keys(asked.tls_keys))


def printed(
    outcome: Outcome, asked: AnalyzeOptions, output: Output, next_batch: int | None = None
) -> int:
    """Print what it came to; returns the exit code. next_batch: of a folder of which this was a part."""
    above = exceeded(outcome.quality, asked.limits)
    findings = counted(outcome, asked.checks)
    if asked.as_json:
        output.raw(as_json(outcome, findings, above, next_batch))
    else:
        for line in lines(outcome, findings, above, next_batch):
            output.out.print(line)
    severities = {row["severity"] for row in findings}
    return FINDINGS if above or severities - {"note"} else FINE


@contextmanager
def taken(out: Path, by: Partition) -> Iterator[None]:
    """The folder is ours meanwhile, for tables that are parted so. Raises Trouble before anything is written
    if it is of something else, somebody else's, or can't be."""
    free(out)
    if partitions(out) - {by}:
        others = "without --follow" if by == "batch" else "with --follow"
        raise Trouble(f"--out {out} has tables of a run {others}: choose another folder")
    if earlier(out):
        raise Trouble(f"--out {out} has tables of an earlier barnabas: choose another folder")
    with ExitStack() as stack:
        try:
            ours = stack.enter_context(held(out))
        except OSError as problem:
            raise Trouble(f"--out {out}: {problem.strerror}") from None
        if not ours:
            raise Trouble(
                f"--out {out} is being written by another run: wait for it, or choose another folder",
                COULD_NOT_RUN,
            )
        yield


def free(out: Path) -> None:
    """Raises Trouble if the folder is of something else, or can't be."""
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
    asked: AnalyzeOptions, files: Sequence[Path], progress: Shown, output: Output
) -> Iterator[Outcome]:
    """What came of it, while Spark is still there."""
    here = parse_master(asked.master).kind == "embedded"
    if not here or "packets" in asked.tables or size_of(files) > AT_ONCE:
        with session_of(asked, progress, files) as spark:
            yield work(spark, asked, files, progress)
        return
    over = Event()

    def go_on() -> None:
        if over.is_set():
            raise CancelledError

    with ThreadPoolExecutor(1) as beside:
        try:
            # the checks of the pure core first: they have something to say before Spark has begun
            said = files, asked.tls_keys, progress, output, asked.checks
            beside.submit(tell_findings, *said, go_on)
            tables = beside.submit(_tables_here, asked, files, go_on)
            with session_of(asked, progress, files) as spark:
                made = tables.result()
                yield (
                    analyses(spark, asked, progress)
                    if made
                    else work(spark, asked, files, progress)
                )
        finally:
            over.set()  # the folder is ours until the thread is done: who interrupts waits for a batch


@contextmanager
def session_of(
    asked: AnalyzeOptions, progress: Shown, files: Iterable[Path] | None
) -> Iterator[SparkSession]:
    """Spark as the command line asked for it. Raises Trouble for what can't be had, then or later.

    files: what it is to read, as far as that is there; None: nobody knows yet.
    """
    with put_off():
        from barnabas.pipeline.spark.class_archive import KEEPS
        from barnabas.pipeline.spark.session import LIGHT, LIGHT_UP_TO, QUICK, session

    progress.step(0, 1, "starting Spark")
    try:
        check_space()
        ours: Mapping[str, str] = {}
        if parse_master(asked.master).kind == "embedded":  # others are set up elsewhere
            size = LITTLE if files is None else size_of(files)
            ours = {**QUICK, **KEEPS} if size < LITTLE else LIGHT if size < LIGHT_UP_TO else {}
        with session(asked.master, {**ours, **dict(asked.conf)}) as spark:
            yield spark
    except UnavailableError as problem:
        said = no_space(str(problem), asked.folder) or str(problem)
        raise Trouble(said, COULD_NOT_RUN) from None
    except BrokenPipeError:
        raise  # whoever read what was printed is gone
    except OSError as problem:
        where = f"{problem.filename}: " if problem.filename else ""
        said = no_space(str(problem), asked.folder) or f"{where}{problem.strerror or problem}"
        raise Trouble(said, COULD_NOT_RUN) from None


def size_of(files: Iterable[Path]) -> int:
    """Bytes of all of them. Raises OSError."""
    return sum(path.stat().st_size for path in files)


def _tables_here(asked: AnalyzeOptions, files: Sequence[Path], go_on: Callable[[], None]) -> bool:
    """Whether the tables could be made in this process. go_on: see `write`."""
    from barnabas.pipeline.tables.spark_stages import TooMuch

    try:
        _tables(None, asked, files, go_on=go_on)
    except TooMuch:
        return False
    return True


def _tables(
    spark: SparkSession | None,
    asked: AnalyzeOptions,
    files: Sequence[Path],
    progress: Shown | None = None,
    go_on: Callable[[], None] | None = None,
) -> None:
    from barnabas.pipeline.tables.decoded_bodies import Bodies
    from barnabas.pipeline.tables.tables import TableOptions, write

    # whoever works for us may have begun in another folder
    out, files = asked.folder.resolve(), [path.resolve() for path in files]
    secrets = [asked.tls_keys.read_bytes()] if asked.tls_keys else []
    step = None if progress is None else progress.step
    bodies = Bodies(asked.json_bodies, asked.blob)
    options = TableOptions(secrets=secrets, also=asked.tables, bodies=bodies)
    made = write(spark, files, out, options, progress=step, go_on=go_on)
    if asked.table_format is not None:
        from barnabas.pipeline.tables.table_formats import commit_capture

        commit_capture(out, asked.table_format, made.capture)


def analyses(spark: SparkSession, asked: AnalyzeOptions, progress: Shown) -> Outcome:
    """The analyses and the report of the folder, of the tables in it. Raises Trouble."""
    with watching(spark, asked, progress):
        from barnabas.pipeline.analyze import analyze as analyze_tables

        return analyze_tables(spark, asked.folder.resolve(), progress.step)


def work(
    spark: SparkSession, asked: AnalyzeOptions, files: Sequence[Path], progress: Shown
) -> Outcome:
    """The tables of these files, and the analyses and the report of the folder. Raises Trouble."""
    with watching(spark, asked, progress):
        _tables(spark, asked, files, progress)
    return analyses(spark, asked, progress)


@contextmanager
def watching(spark: SparkSession, asked: AnalyzeOptions, progress: Shown) -> Iterator[None]:
    """Tell of Spark's tasks. Raises Trouble for what Spark can't do."""
    # all of these import pyspark, which is known to be there by now
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    from barnabas.pipeline.spark.progress import watched

    with watched(spark, progress.tasks):
        try:
            yield
        except (PySparkException, Py4JError) as problem:
            raise Trouble(f"Spark failed: {reason(problem, asked.folder)}", COULD_NOT_RUN) from None
