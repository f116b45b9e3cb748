"""From tables to analyses, and from these to a report, all in one folder."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow.parquet as pq

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

LITTLE: Final = 8 << 20
"""Bytes of it up to which it is kept in memory."""

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
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    # the first rows of an order are found by a class that is compiled
    "spark.sql.execution.topKSortFallbackThreshold": "0",
}
"""Settings for few: what costs is how Spark is asked, not what it does."""

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
    files = [*(out / "exchanges").rglob("*.parquet")]
    few = sum(pq.read_metadata(path).num_rows for path in files) <= FEW
    settings = {**NARROW, **(ONE_TASK if few else {})}
    before = {name: spark.conf.get(name) or "" for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    exchanges = read(spark, out, "exchanges")
    if few and sum(path.stat().st_size for path in files) <= LITTLE:
        # as rows: reading columns again compiles a class for each choice of them
        exchanges = exchanges.coalesce(1).localCheckpoint(eager=False)
    keep: Keep = by_driver if few else by_tasks
    rows = quality(out)
    steps = len(ANALYSES) + 4
    step = itertools.count()

    def analysed(analysis: Analysis) -> dict[str, Result]:
        progress(next(step), steps, f"analysing: {analysis.name}")
        name = f"{FOLDER}/{analysis.name}"
        order = in_order(name, [one.name for one in analysis.columns])
        return collected(name, keep(analysis.run(exchanges), out / name, analysis.columns, order))

    def of_exchanges() -> dict[str, Result]:
        progress(next(step), steps, "collecting: exchanges")
        return collected("exchanges", Kept(exchanges))

    def of_errors() -> dict[str, Result]:
        progress(next(step), steps, "collecting: errors")
        return collected("errors", Kept(read(spark, out, "errors")))

    def seen() -> Overview:
        progress(next(step), steps, "collecting: overview")
        read_as: Counter[str] = Counter()
        for row in rows:
            read_as[row["capture"]] += row["files"]
        return overview(read_as, exchanges)

    pool = ThreadPoolExecutor(AT_ONCE if few else 1)
    try:
        analyses = [pool.submit(analysed, analysis) for analysis in ANALYSES]
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
