"""Whether a cluster's workers can run our code, asked once before anything else."""

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
    """Ask workers, in so many tasks, for what they lack. Raises UnavailableError."""
    # not by Arrow, which they may lack
    asked = udf(missing, "array<string>", useArrow=False)
    rows = spark.range(0, tasks, 1, tasks).select(explode(asked("id")).alias("name"))
    try:
        lacking = sorted({row["name"] for row in rows.collect()})
    except PySparkException as problem:
        raise UnavailableError(f"the workers of {master.url} fail: {reason(problem)}") from None
    if lacking:
        raise UnavailableError(
            f"the workers of {master.url} lack {', '.join(lacking)}: install it there"
            f" (pip install {' '.join(lacking)})"
        )
