"""`barnabas analyze --follow`: tables of a capture that is still being written, then their report."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from barnabas.captures.files.capture_folder import listed
from barnabas.cli.analyze.analyze import check, printed, session_of, taken
from barnabas.cli.analyze.kafka_topic import kafka_topic, with_connector
from barnabas.cli.analyze.options import AnalyzeOptions
from barnabas.cli.analyze.progress import Shown, shown
from barnabas.cli.captures.remarks import no_captures
from barnabas.cli.console.output import Output
from barnabas.endings import interruptible, noted
from barnabas.pipeline.spark.errors import reason
from barnabas.pipeline.tables.folders import checked_path
from barnabas.trouble import COULD_NOT_RUN, INTERRUPTED, Trouble

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from barnabas.pipeline.analyze import Outcome
    from barnabas.pipeline.streaming.arrivals import Arrivals
    from barnabas.pipeline.streaming.job import Sink
    from barnabas.pipeline.streaming.kafka_topic import Topic


def follow(asked: AnalyzeOptions, output: Output | None = None) -> int:
    """Write tables as files are closed, until Ctrl-C (or all that is there is read), then the report.

    Returns the exit code, as `analyze` does. Raises Trouble.
    """
    output = output or Output()
    folder = _folder(asked)
    topic = kafka_topic(asked.send)
    if topic is not None:
        asked = replace(asked, conf=[*with_connector(dict(asked.conf)).items()])
    captures, others = listed(folder.iterdir())
    for remark in no_captures(others):
        output.note(remark)
    try:
        with (
            interruptible(),
            taken(asked.folder, "batch"),
            shown(output) as progress,
            session_of(asked, progress, captures) as spark,
        ):
            outcome = _work(spark, asked, topic, progress, output)
    except KeyboardInterrupt:
        output.note(f"interrupted: {asked.folder} has no report; run the same command to continue")
        return INTERRUPTED
    return printed(outcome, asked, output)


def _folder(asked: AnalyzeOptions) -> Path:
    captures = asked.paths
    missing = [path for path in captures if not os.path.exists(path)]  # noqa: PTH110 - also where a name is too long
    if missing:
        raise Trouble(f"{missing[0]}: no such folder: create it, or start the proxy that does")
    if len(captures) != 1 or not os.path.isdir(captures[0]):  # noqa: PTH112 - the same
        raise Trouble(
            "--follow takes one folder: the one given to `barnabas proxy --capture FOLDER "
            "--rotate 256MiB`, or to tcpdump"
        )
    try:
        checked_path(captures[0].resolve())
    except ValueError as problem:
        raise Trouble(f"--follow: {problem}") from None
    if asked.tls_keys is not None:
        raise Trouble("--tls-keys does not apply to --follow: a proxy captures plaintext")
    if asked.tables:
        raise Trouble(
            "--tables does not work with --follow: analyze the folder when it is complete"
        )
    if check(asked).kind == "connect":
        raise Trouble(
            "--follow reads the folder on this machine: it can't use Spark Connect as --master"
        )
    return captures[0]


def _work(
    spark: SparkSession,
    asked: AnalyzeOptions,
    topic: Topic | None,
    progress: Shown,
    output: Output,
) -> Outcome:
    from pyspark.errors import PySparkException

    from barnabas.pipeline.analyze import analyze as analyze_tables
    from barnabas.pipeline.spark.progress import watched
    from barnabas.pipeline.streaming.arrivals import Arrivals
    from barnabas.pipeline.streaming.batches import Batches
    from barnabas.pipeline.streaming.job import Job
    from barnabas.pipeline.tables.decoded_bodies import Bodies
    from barnabas.pipeline.tables.quality import quality

    folder, out, until_read = asked.paths[0], asked.folder.resolve(), asked.once
    batches = Batches(out)
    arrivals = Arrivals(
        folder.resolve(),
        out,
        lambda path: output.note(
            f"{path} has grown since it was read, and the rest is not in the tables: move captures into the "
            "folder when they are complete"
        ),
    )
    said = batches.count
    if said:
        as_before(asked.table_format, out)
    try:
        with noted() as interrupted:  # raised within a call to the JVM it would take that apart
            try:
                bodies = Bodies(asked.json_bodies, asked.blob)
                sinks = [*_sinks(topic, asked.table_format, out)]
                job = Job(spark, folder, batches, bodies, sinks)
                query = job.start(arrivals, until_read=until_read)
            except ValueError as problem:
                raise Trouble(f"--out {out} was {problem}: choose another folder") from None
            progress.step(0, 1, f"following {folder}: Ctrl-C ends it with a report")
            ended = False
            while not (ended or interrupted.is_set()):
                ended = bool(query.awaitTermination(1))
                if not until_read:
                    _look(arrivals, folder)
                if batches.count > said:
                    said = batches.count
                    output.note(f"batch {said - 1} written")  # as the tables call it
            query.stop()
        if not batches.count:
            if interrupted.is_set():
                raise KeyboardInterrupt
            raise Trouble(f"{folder} has no complete capture yet", COULD_NOT_RUN)
        read = quality(out)
        if read and not any(row["files"] for row in read):
            raise Trouble(
                f"nothing in {folder} could be read: its files are no segments of a proxy; analyze them "
                "without --follow",
                COULD_NOT_RUN,
            )
        with watched(spark, progress.tasks):
            return analyze_tables(spark, out, progress.step)
    except PySparkException as problem:
        raise Trouble(f"Spark failed: {reason(problem, out)}", COULD_NOT_RUN) from problem


def _look(arrivals: Arrivals, folder: Path) -> None:
    try:
        arrivals.look()
    except OSError as problem:
        raise Trouble(f"can't follow {folder}: {problem.strerror}", COULD_NOT_RUN) from None


def as_before(asked: str | None, out: Path) -> None:
    """Raise Trouble where batches of before are in another format: it would lack some for ever."""
    from barnabas.pipeline.tables.table_formats import FORMATS

    before = [kind for kind in FORMATS if (out / kind).is_dir()]
    if before != [kind for kind in (asked,) if kind]:
        said = " and ".join(f"--format {kind}" for kind in before) or "no --format"
        raise Trouble(
            f"--out {out} has batches with {said}: continue with that, or choose another folder"
        )


def _sinks(topic: Topic | None, kind: str | None, out: Path) -> Iterator[Sink]:
    from barnabas.pipeline.streaming.kafka_topic import send
    from barnabas.pipeline.tables.table_formats import commit_batch

    if topic is not None:
        yield lambda spark, tables, _: send(spark, tables, topic)
    if kind is not None:
        yield lambda _, tables, number: commit_batch(tables, out, kind, number)
