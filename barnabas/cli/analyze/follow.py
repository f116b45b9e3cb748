"""`barnabas analyze --follow`: tables of a capture that is still being written, then their report."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from barnabas.captures.files.capture_folder import listed
from barnabas.cli.analyze.analyze import (
    analyses,
    check,
    printed,
    session_of,
    taken,
    watching,
)
from barnabas.cli.analyze.kafka_topic import kafka_topic, with_connector
from barnabas.cli.analyze.options import AnalyzeOptions
from barnabas.cli.analyze.progress import StepProgress, step_progress
from barnabas.cli.captures.remarks import no_captures
from barnabas.cli.console.output import Output
from barnabas.pipeline.tables.folders import checked_path
from barnabas.stop_signals import interruptible, stop_event
from barnabas.trouble import COULD_NOT_RUN, INTERRUPTED, Trouble, os_errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from barnabas.pipeline.analyze import Outcome
    from barnabas.pipeline.streaming.arrivals import Arrivals
    from barnabas.pipeline.streaming.job import Job, Sink
    from barnabas.pipeline.streaming.kafka_topic import Topic


def follow(options: AnalyzeOptions) -> int:
    """Write tables as segments are closed, then the report, until Ctrl-C or, with `--once`, the last segment.

    Returns the exit code, as `analyze` does. Raises Trouble.
    """
    output = Output()
    folder = _folder(options)
    topic = kafka_topic(options.send)
    if topic is not None:
        options = replace(options, conf=[*with_connector(dict(options.conf)).items()])
    captures, others = listed(folder.iterdir())
    for remark in no_captures(others):
        output.note(remark)
    try:
        with (
            interruptible(),
            taken(options.folder, "batch"),
            step_progress(output) as progress,
            session_of(options, progress, captures) as spark,
        ):
            outcome = _work(spark, options, topic, progress, output)
    except KeyboardInterrupt:
        output.note(
            f"interrupted: {options.folder} has no report; run the same command to continue"
        )
        return INTERRUPTED
    return printed(outcome, options, output)


def _folder(options: AnalyzeOptions) -> Path:
    captures = options.paths
    missing = [path for path in captures if not os.path.exists(path)]  # noqa: PTH110 - also where a name is too long
    if missing:
        raise Trouble(f"{missing[0]}: no such folder: create it, or start the proxy first")
    if len(captures) != 1 or not os.path.isdir(captures[0]):  # noqa: PTH112 - the same
        raise Trouble(
            "--follow takes one folder: the one given to `barnabas proxy --capture FOLDER "
            "--rotate 256MiB`, or to tcpdump"
        )
    try:
        checked_path(captures[0].resolve())
    except ValueError as problem:
        raise Trouble(f"--follow: {problem}") from None
    if options.tls_keys is not None:
        raise Trouble("--tls-keys does not apply to --follow: a proxy captures plaintext")
    if options.tables:
        raise Trouble(
            "--tables does not work with --follow: analyze the folder when it is complete"
        )
    if check(options).kind == "connect":
        raise Trouble(
            "--follow reads the folder on this machine: it can't use Spark Connect as --master"
        )
    return captures[0]


def _work(
    spark: SparkSession,
    options: AnalyzeOptions,
    topic: Topic | None,
    progress: StepProgress,
    output: Output,
) -> Outcome:
    from barnabas.pipeline.streaming.arrivals import Arrivals
    from barnabas.pipeline.streaming.batches import Batches
    from barnabas.pipeline.streaming.job import Job
    from barnabas.pipeline.tables.decoded_bodies import Bodies
    from barnabas.pipeline.tables.quality import quality

    folder, out = options.paths[0].resolve(), options.folder.resolve()
    batches = Batches(out)
    if batches.count:
        as_before(options.table_format, out)
    try:
        batches.check()
    except ValueError as problem:
        raise Trouble(f"--out {out} was {problem}: choose another folder") from None
    arrivals = Arrivals(
        folder,
        out,
        lambda path: output.note(
            f"{path} has grown since it was read, and the rest is not in the tables: move captures into the "
            "folder when they are complete"
        ),
    )
    # an event: an exception within a call to the JVM would break its connection
    with stop_event() as interrupted, watching(spark, options, progress):

        def go_on() -> None:
            if interrupted.is_set():
                raise CancelledError

        bodies = Bodies(options.json_bodies, options.blob)
        sinks = [*_sinks(spark, topic, options.table_format, out)]
        job = Job(spark, folder, batches, bodies, sinks, go_on)
        progress.step(0, 1, f"following {folder}: Ctrl-C ends it with a report")
        _follow(job, arrivals, interrupted, output, until_read=options.once)
    if not batches.count:
        if interrupted.is_set():
            raise KeyboardInterrupt
        raise Trouble(f"{folder} has no complete capture yet", COULD_NOT_RUN)
    read = quality(out)
    if read and not any(row["files"] for row in read):
        raise Trouble(
            f"{folder} holds no segments written by a proxy: analyze it without --follow",
            COULD_NOT_RUN,
        )
    return analyses(spark, options, progress)


def _follow(
    job: Job, arrivals: Arrivals, interrupted: Event, output: Output, *, until_read: bool
) -> None:
    """Write batches until an interrupt or, with `until_read`, the last one of the present files.

    Files are noted while a batch is written: they may be overwritten meanwhile.
    """
    writing: Future[None] | None = None
    first = True
    with ThreadPoolExecutor(1) as writer:
        while True:
            if first or not until_read:
                with os_errors(f"can't follow {job.folder}", COULD_NOT_RUN):
                    arrivals.look()
                first = False
            if writing is not None and writing.done():
                with suppress(CancelledError):
                    writing.result()
                    output.note(f"batch {job.batches.count - 1} written")
                writing = None
            if writing is None and not interrupted.is_set():
                number = job.batches.count
                files = arrivals.batch(number)
                writing = None if files is None else writer.submit(job.batch, files, number)
            if writing is not None:
                wait([writing], 1)
            elif until_read or interrupted.wait(1):
                return


def as_before(table_format: str | None, out: Path) -> None:
    """Raise Trouble if earlier batches are in another format, which would miss later batches."""
    before = "delta" if (out / "delta").is_dir() else None
    if before != table_format:
        earlier_format = f"--format {before}" if before else "no --format"
        raise Trouble(
            f"--out {out} has batches with {earlier_format}: continue with that, or choose another folder"
        )


def _sinks(
    spark: SparkSession, topic: Topic | None, table_format: str | None, out: Path
) -> Iterator[Sink]:
    from barnabas.pipeline.streaming.kafka_topic import send
    from barnabas.pipeline.tables.delta import commit_batch

    if topic is not None:
        yield lambda tables, _: send(spark, tables, topic)
    if table_format is not None:
        yield lambda tables, number: commit_batch(tables, out, number)
