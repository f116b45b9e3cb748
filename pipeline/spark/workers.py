"""Checks once whether a cluster's workers can run our code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.errors import PySparkException
from pyspark.sql.functions import explode, udf

from barnabas.pipeline.spark.errors import UnavailableError, reason
from barnabas.pipeline.spark.masters import Master
from barnabas.pipeline.spark.shipping import missing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def require(spark: SparkSession, master: Master, tasks: int) -> None:
    """Ask workers, in `tasks` tasks, for missing modules. Raises UnavailableError."""
    # without Arrow, which may be missing
    missing_modules = udf(missing, "array<string>", useArrow=False)
    rows = spark.range(0, tasks, 1, tasks).select(explode(missing_modules("id")).alias("name"))
    try:
        absent = sorted({row["name"] for row in rows.collect()})
    except PySparkException as problem:
        raise UnavailableError(f"the workers of {master.url} fail: {reason(problem)}") from None
    if absent:
        raise UnavailableError(
            f"the workers of {master.url} lack {', '.join(absent)}: install it there"
            f" (pip install {' '.join(absent)})"
        )
