"""Analyses and all bodies of a table as one table of texts, made by one job: to compare two places by."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812

from barnabas.pipeline.analyses.registry import ANALYSES
from barnabas.pipeline.analyze import INTERPRETED, ONE_TASK

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FEW = {**ONE_TASK, **INTERPRETED, "spark.sql.shuffle.partitions": "3"}
"""Settings for it, of few rows, on several workers: otherwise Spark compiles some hundred classes, and plans
anew behind each stage."""


SOME = ("findings", "latency", "rebalances", "versions")
"""Two of Python's workers, two of Spark's own functions."""


def everything(exchanges: DataFrame) -> DataFrame:
    """Rows of (what, row as JSON). Durations are rounded: sums depend on their order in the last digit."""
    exchanges = exchanges.cache()
    found = [
        _texts(analysis.name, analysis.run(exchanges))
        for analysis in ANALYSES
        if analysis.name in SOME
    ]
    found.append(
        _texts("body", exchanges.select("connection", "ordinal", "correlation_id", "body"))
    )
    return reduce(lambda one, other: one.unionByName(other), found)


def _texts(what: str, rows: DataFrame) -> DataFrame:
    columns = [
        F.round(name, 6).alias(name) if kind == "double" else F.col(name)
        for name, kind in rows.dtypes
    ]
    return rows.select(F.lit(what).alias("what"), F.to_json(F.struct(*columns)).alias("row"))
