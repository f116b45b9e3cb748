"""`latency_heatmap`: the distribution of latencies over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from barnabas.captures.summary.heat_map import LEAST_MS, PER_OCTAVE
from barnabas.pipeline.analyses.buckets import bucketed
from barnabas.pipeline.analyses.expressions import with_request
from barnabas.pipeline.rows.columns import Column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COLUMNS: Final = (
    Column("bucket", "timestamp", "start of the time bucket"),
    Column("api", "string", "name of the API"),
    Column("latency_ms", "double", "upper bound of the latency bucket; the next lower one is 1/1.41 of it"),
    Column("count", "bigint", "answered requests"),
)  # fmt: skip


def latency_heatmap(exchanges: DataFrame) -> DataFrame:
    """Count responses by latency over time.

    This shows two modes, or a slow tail, that percentiles hide.
    """
    answered = with_request(exchanges).where("latency_ms is not null")
    octaves = F.log2(F.greatest(F.col("latency_ms"), F.lit(LEAST_MS)))
    bound = F.pow(F.lit(2.0), F.ceil(octaves * PER_OCTAVE) / F.lit(float(PER_OCTAVE)))
    return (
        bucketed(answered.withColumn("latency_ms", bound), exchanges)
        .groupBy("bucket", "api", "latency_ms")
        .agg(F.count("*").alias("count"))
    )
