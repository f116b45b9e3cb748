"""`latency`: how long clients wait, by API, client and broker over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from barnabas.pipeline.analyses.buckets import bucketed
from barnabas.pipeline.analyses.expressions import percentile, with_request
from barnabas.pipeline.rows.columns import Column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COLUMNS: Final = (
    Column("bucket", "timestamp", "start of the time bucket"),
    Column("api", "string", "name of the API"),
    Column("client_id", "string", "the client, or null"),
    Column("broker", "int", "node id of the broker, or null"),
    Column("count", "bigint", "answered requests"),
    Column("p50_ms", "double", "median latency as the client sees it"),
    Column("p90_ms", "double", "90th percentile"),
    Column("p99_ms", "double", "99th percentile"),
    Column("max_ms", "double", "highest latency"),
    Column("broker_p50_ms", "double", "median latency of the broker alone"),
    Column("broker_p99_ms", "double", "99th percentile of the broker alone"),
)


def latency(exchanges: DataFrame) -> DataFrame:
    """Measure how long clients wait for responses, over time, and the broker's share of that.

    A percentile is one of the latencies (nearest rank). A Fetch waits for records and a JoinGroup for other
    members, so their latency is high by design. Requests that were never answered do not count.
    """
    answered = with_request(exchanges).where("latency_ms is not null")
    return (
        bucketed(answered, exchanges)
        .groupBy("bucket", "api", "client_id", "broker")
        .agg(
            F.count("*").alias("count"),
            percentile("latency_ms", 0.5).alias("p50_ms"),
            percentile("latency_ms", 0.9).alias("p90_ms"),
            percentile("latency_ms", 0.99).alias("p99_ms"),
            F.max("latency_ms").alias("max_ms"),
            percentile("broker_ms", 0.5).alias("broker_p50_ms"),
            percentile("broker_ms", 0.99).alias("broker_p99_ms"),
        )
    )
