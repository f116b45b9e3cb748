"""From tables to analyses, and from these to a report, all in one folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from plotly.offline import get_plotlyjs

from barnabas.pipeline.analyses.registry import ANALYSES
from barnabas.pipeline.report.collecting import collect, overview
from barnabas.pipeline.report.digests import DIGESTS
from barnabas.pipeline.report.page import page
from barnabas.pipeline.report.parts import Overview, Result
from barnabas.pipeline.tables.sql import FILE, script
from barnabas.pipeline.tables.tables import TABLES, Progress, read

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

REPORT: Final = "report.html"
"""Beside the tables."""

FOLDER: Final = "analyses"
"""With a table for each."""


class Outcome(NamedTuple):
    """What came of it."""

    overview: Overview
    results: Mapping[str, Result]
    """What is in the report, by the names of `barnabas.pipeline.report.digests`."""
    report: Path


def analyze(spark: SparkSession, out: Path, progress: Progress = lambda *_: None) -> Outcome:
    """The analyses of the tables in a folder, as tables beside them, and the report.

    Done again it does the same again. Raises OSError.
    """

    def table(name: str) -> DataFrame:
        return read(spark, out, name) if name in TABLES else spark.read.parquet(str(out / name))

    steps = len(ANALYSES) + len(DIGESTS) + 1
    step = iter(range(steps))
    exchanges = table("exchanges")
    for analysis in ANALYSES:
        progress(next(step), steps, f"analysing: {analysis.name}")
        found = analysis.run(exchanges)
        found.write.mode("overwrite").parquet(str(out / FOLDER / analysis.name))
    results = {}
    for digest in DIGESTS:
        progress(next(step), steps, f"collecting: {digest.name}")
        results[digest.name] = collect(table, digest)
    progress(next(step), steps, "writing the report")
    names = table("connections").select("capture").distinct().orderBy("capture").collect()
    seen = overview([row["capture"] for row in names], exchanges)
    text = page(seen, results, get_plotlyjs())
    written = out / REPORT
    part = written.with_suffix(".part")
    part.write_text(text, "utf-8")
    part.replace(written)  # who reads it has the old one or the new one
    (out / FILE).write_text(script(out), "utf-8")
    return Outcome(seen, results, written)
