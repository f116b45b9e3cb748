"""From tables to analyses, and from these to a report, all in one folder."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow.parquet as pq

from barnabas.pipeline.analyses.given import BODIES, in_files, in_memory
from barnabas.pipeline.analyses.registry import ANALYSES
from barnabas.pipeline.report.collecting import collected, in_order, overview
from barnabas.pipeline.report.digests import DIGESTS
from barnabas.pipeline.report.page import page, plotly
from barnabas.pipeline.report.parts import Overview, Result
from barnabas.pipeline.tables.keeping import Keep, Kept, by_driver, by_tasks
from barnabas.pipeline.tables.quality import quality
from barnabas.pipeline.tables.sql import FILE, script
from barnabas.pipeline.tables.tables import Progress, read

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from barnabas.pipeline.analyses.analysis import Analysis

REPORT: Final = "report.html"
"""Beside the tables."""

FOLDER: Final = "analyses"
"""With a table for each."""

FEW: Final = 100_000
"""Rows of the table `exchanges` up to which one task is enough for an analysis."""

FEWER: Final = 10_000
"""The same up to which compiling anything takes longer than the work."""

LITTLE: Final = 64 << 20
"""Bytes of its columns, but for bodies, up to which those are kept in memory."""

NARROW: Final[Mapping[str, str]] = {
    # no body passes; each row would be measured by all those of its batch before it
    "spark.sql.execution.arrow.maxBytesPerBatch": str((1 << 31) - 1),
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
}
"""Settings of what workers are given."""

ONE_TASK: Final[Mapping[str, str]] = {
    "spark.sql.shuffle.partitions": "1",
    # looks at what a stage came to before it plans the next: each is a job then
    "spark.sql.adaptive.enabled": "false",
    # compiling takes longer than the work
    "spark.sql.codegen.wholeStage": "false",
    # the first rows of an order are found by a class that is compiled
    "spark.sql.execution.topKSortFallbackThreshold": "0",
}
"""Settings for few: what costs is how Spark is asked, not what it does."""

INTERPRETED: Final[Mapping[str, str]] = {"spark.sql.codegen.factoryMode": "NO_CODEGEN"}
"""Beside these, for FEWER: nor is it worth to compile what is done to each row."""

AT_ONCE: Final = 2
"""Analyses of few that Spark plans side by side: it plans with one core each."""


class Outcome(NamedTuple):
    """What came of it."""

    overview: Overview
    results: Mapping[str, Result]
    """What is in the report, by the names of `barnabas.pipeline.report.digests`."""
    report: Path | str
    """Where it is; text: on another file system."""
    quality: Sequence[Mapping[str, Any]] = ()
    """How much was read, the rows of that table."""


def analyze(spark: SparkSession, out: Path, progress: Progress = lambda *_: None) -> Outcome:
    """The analyses of the tables in a folder, as tables beside them, and the report.

    Done again it does the same again. progress: told by any thread. Raises OSError.
    """
    footers = [pq.read_metadata(path) for path in (out / "exchanges").rglob("*.parquet")]
    count = sum(one.num_rows for one in footers)
    few = count <= FEW
    settings = {**NARROW, **(ONE_TASK if few else {}), **(INTERPRETED if count <= FEWER else {})}
    before = {name: spark.conf.get(name) or "" for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    exchanges = read(spark, out, "exchanges")
    little = few and sum(map(_bytes, footers)) <= LITTLE
    given = in_memory(exchanges, ANALYSES) if little else in_files(exchanges)
    keep: Keep = by_driver if few else by_tasks
    rows = quality(out)
    steps = len(ANALYSES) + 4
    step = itertools.count()

    def analysed(analysis: Analysis) -> dict[str, Result]:
        progress(next(step), steps, f"analysing: {analysis.name}")
        name = f"{FOLDER}/{analysis.name}"
        order = in_order(name, [one.name for one in analysis.columns])
        run = analysis.at_once if few and analysis.at_once else analysis.run
        return collected(name, keep(run(given.to(analysis)), out / name, analysis.columns, order))

    def of_exchanges() -> dict[str, Result]:
        progress(next(step), steps, "collecting: exchanges")
        return collected("exchanges", Kept(given.narrow))

    def of_errors() -> dict[str, Result]:
        progress(next(step), steps, "collecting: errors")
        return collected("errors", Kept(read(spark, out, "errors")))

    def seen() -> Overview:
        progress(next(step), steps, "collecting: overview")
        read_as: Counter[str] = Counter()
        for row in rows:
            read_as[row["capture"]] += row["files"]
        return overview(read_as, given.narrow)

    pool = ThreadPoolExecutor(AT_ONCE if few else 1)
    try:
        # what one thread is long at is begun before what others do beside it
        longest = sorted(ANALYSES, key=lambda analysis: analysis.at_once is None)
        analyses = [pool.submit(analysed, analysis) for analysis in longest]
        tables = [pool.submit(of_exchanges), pool.submit(of_errors)]
        whole = pool.submit(seen).result()
        found = {name: one for made in (*analyses, *tables) for name, one in made.result().items()}
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # who interrupts does not wait for them
    progress(next(step), steps, "writing the report")
    results = {digest.name: found[digest.name] for digest in DIGESTS}
    text = page(whole, results, plotly())
    written = out / REPORT
    part = written.with_suffix(".part")
    part.write_text(text, "utf-8")
    part.replace(written)  # who reads it has the old one or the new one
    (out / FILE).write_text(script(out), "utf-8")
    for name, value in before.items():
        spark.conf.set(name, value)
    return Outcome(whole, results, written, rows)


def _bytes(footer: pq.FileMetaData) -> int:
    """What a file has beside bodies, unpacked."""
    found = 0
    for number in range(footer.num_row_groups):
        group = footer.row_group(number)
        for column in map(group.column, range(group.num_columns)):
            if column.path_in_schema.partition(".")[0] not in BODIES:
                found += column.total_uncompressed_size
    return found
