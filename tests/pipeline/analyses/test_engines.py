"""Sail and Spark give the same rows: of all analyses, and of all that the report shows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from barnabas.pipeline.analyses.registry import ANALYSES
from barnabas.pipeline.analyze import FOLDER, analyze
from barnabas.pipeline.spark.session import session
from barnabas.pipeline.tables.tables import write
from tests.pipeline.samples import SAMPLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def rows(spark: SparkSession, out: Path) -> dict[str, list[str]]:
    """The rows of each analysis in any order, and those of the report in its order."""
    outcome = analyze(spark, out)
    tables = {
        analysis.name: sorted(_texts(pq.read_table(out / FOLDER / analysis.name).to_pylist()))
        for analysis in ANALYSES
    }
    shown = {f"report: {name}": _texts(result.rows) for name, result in outcome.results.items()}
    return {**tables, **shown, "overview": [str(outcome.overview)]}


def _texts(found: Any) -> list[str]:
    """Sums of floats depend on their order in the last digit."""
    return [
        str({k: round(v, 6) if isinstance(v, float) else v for k, v in row.items()})
        for row in found
    ]


def test_both_engines_give_the_same_rows(spark: SparkSession, tmp_path: Path) -> None:
    for path in SAMPLES:
        write(None, [path], tmp_path)
    with session(engine="sail") as sail:
        of_sail = rows(sail, tmp_path)
    of_spark = rows(spark, tmp_path)
    differing = [name for name in of_spark if of_spark[name] != of_sail[name]]
    assert {name: (of_sail[name], of_spark[name]) for name in differing} == {}
    without_rows = {analysis.name for analysis in ANALYSES if not of_spark[analysis.name]}
    assert without_rows == {"throttling"}, "no sample has a throttled client"
