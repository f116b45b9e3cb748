"""`latency_heatmap`: the distribution of latencies over time."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame

from barnabas.captures.summary.heat_map import LEAST_MS, PER_OCTAVE
from barnabas.pipeline.analyses.buckets import bucketed
from barnabas.pipeline.analyses.expressions import query, with_request
from barnabas.pipeline.rows.columns import Column

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
    octaves = f"log2(greatest(latency_ms, {LEAST_MS}D))"
    return query(
        f"""\
WITH answered AS (
  SELECT bucket, api, pow(2D, ceil({octaves} * {PER_OCTAVE}) / {PER_OCTAVE}D) AS latency_ms
  FROM {{exchanges}} WHERE latency_ms IS NOT NULL
)
SELECT bucket, api, latency_ms, count(*) AS count FROM answered GROUP BY bucket, api, latency_ms""",
        with_request(bucketed(exchanges)),
    )
