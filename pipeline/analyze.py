"""Runs the analyses of a folder's tables and writes the report."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow.parquet as pq

from barnabas.pipeline.analyses.inputs import BODIES, in_files, in_memory
from barnabas.pipeline.analyses.registry import ANALYSES
from barnabas.pipeline.report.digests import DIGESTS, collected, in_order, overview
from barnabas.pipeline.report.page import page, plotly
from barnabas.pipeline.report.parts import Overview, Result
from barnabas.pipeline.rows.columns import ddl
from barnabas.pipeline.tables.analysis_tables import StoredTable, StoreTable, by_driver, by_tasks
from barnabas.pipeline.tables.quality import quality
from barnabas.pipeline.tables.sql import FILE, script
from barnabas.pipeline.tables.tables import Progress, read

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from barnabas.pipeline.analyses.registry import Analysis

REPORT: Final = "report.html"
"""The report's name, next to the tables."""

FOLDER: Final = "analyses"
"""The folder with a table for each analysis."""

FEW: Final = 100_000
"""Rows of the table `exchanges` up to which one task is enough for an analysis."""

FEWER: Final = 10_000
"""Rows of the table `exchanges` up to which compiling code takes longer than the work."""

LITTLE: Final = 64 << 20
"""Bytes of its columns, without bodies, up to which they are cached in memory."""

NARROW: Final[Mapping[str, str]] = {
    # there are no bodies; Spark would measure each row together with all preceding ones of its batch
    "spark.sql.execution.arrow.maxBytesPerBatch": str((1 << 31) - 1),
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
}
"""Settings for the batches that workers get."""

ONE_TASK: Final[Mapping[str, str]] = {
    "spark.sql.shuffle.partitions": "1",
    # adaptive execution plans each stage after the preceding one, as a job of its own
    "spark.sql.adaptive.enabled": "false",
    # compiling takes longer than the work itself
    "spark.sql.codegen.wholeStage": "false",
    # finding the first rows of an order would compile a class
    "spark.sql.execution.topKSortFallbackThreshold": "0",
}
"""Settings for few rows: planning costs more than the work."""

INTERPRETED: Final[Mapping[str, str]] = {"spark.sql.codegen.factoryMode": "NO_CODEGEN"}
"""Further settings for FEWER rows: expressions are not compiled, either."""

AT_ONCE: Final = 2
"""Analyses of few rows that Spark plans at the same time: planning uses one core each."""


class Outcome(NamedTuple):
    """The result of the analyses."""

    overview: Overview
    results: Mapping[str, Result]
    """The report's results, by the names of `barnabas.pipeline.report.digests`."""
    report: Path | str
    """The report's path; text if it is on another file system."""
    quality: Sequence[Mapping[str, Any]] = ()
    """The rows of the table `quality`."""


def analyze(spark: SparkSession, out: Path, progress: Progress = lambda *_: None) -> Outcome:
    """Run the analyses of a folder's tables, write their tables and the report. Raises OSError.

    A repeated run gives the same result. `progress` may be called by any thread.
    """
    footers = [pq.read_metadata(path) for path in (out / "exchanges").rglob("*.parquet")]
    count = sum(footer.num_rows for footer in footers)
    few = count <= FEW
    settings = {**NARROW, **(ONE_TASK if few else {}), **(INTERPRETED if count <= FEWER else {})}
    before = {name: spark.conf.get(name) or "" for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    exchanges = read(spark, out, "exchanges")
    little = few and sum(map(_bytes, footers)) <= LITTLE
    inputs = in_memory(exchanges, ANALYSES) if little else in_files(exchanges)
    keep: StoreTable = by_driver if few else by_tasks
    rows = quality(out)
    steps = len(ANALYSES) + 4
    step = itertools.count()

    def analysed(analysis: Analysis) -> dict[str, Result]:
        progress(next(step), steps, f"analysing: {analysis.name}")
        name = f"{FOLDER}/{analysis.name}"
        order = in_order(name, [footer.name for footer in analysis.columns])
        run = analysis.at_once if few and analysis.at_once else analysis.run
        # Sail can't unite parts of a table without files
        rows = (
            run(inputs.to(analysis)) if count else spark.createDataFrame([], ddl(analysis.columns))
        )
        return collected(name, keep(rows, out / name, analysis.columns, order))

    def of_exchanges() -> dict[str, Result]:
        progress(next(step), steps, "collecting: exchanges")
        return collected("exchanges", StoredTable(inputs.narrow))

    def of_errors() -> dict[str, Result]:
        progress(next(step), steps, "collecting: errors")
        return collected("errors", StoredTable(read(spark, out, "errors")))

    def seen() -> Overview:
        progress(next(step), steps, "collecting: overview")
        read_as: Counter[str] = Counter()
        for row in rows:
            read_as[row["capture"]] += row["files"]
        return overview(read_as, inputs.narrow)

    pool = ThreadPoolExecutor(AT_ONCE if few else 1)
    try:
        # the longest analysis starts first, others run in parallel with it
        longest = sorted(ANALYSES, key=lambda analysis: analysis.at_once is None)
        analyses = [pool.submit(analysed, analysis) for analysis in longest]
        tables = [pool.submit(of_exchanges), pool.submit(of_errors)]
        whole = pool.submit(seen).result()
        result_by_name = {
            name: result
            for future in (*analyses, *tables)
            for name, result in future.result().items()
        }
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # an interrupt does not wait for them
    progress(next(step), steps, "writing the report")
    results = {digest.name: result_by_name[digest.name] for digest in DIGESTS}
    text = page(whole, results, plotly())
    written = out / REPORT
    part = written.with_suffix(".part")
    part.write_text(text, "utf-8")
    part.replace(written)  # readers see the old report or the new one
    (out / FILE).write_text(script(out), "utf-8")
    for name, value in before.items():
        spark.conf.set(name, value)
    return Outcome(whole, results, written, rows)


def _bytes(footer: pq.FileMetaData) -> int:
    """Return the uncompressed size of a file's columns other than bodies."""
    size = 0
    for number in range(footer.num_row_groups):
        group = footer.row_group(number)
        for column in map(group.column, range(group.num_columns)):
            if column.path_in_schema.partition(".")[0] not in BODIES:
                size += column.total_uncompressed_size
    return size
