"""`latency`: how long clients wait, by API, client and broker over time."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame

from barnabas.pipeline.analyses.buckets import bucketed
from barnabas.pipeline.analyses.expressions import percentile, query, with_request
from barnabas.pipeline.rows.columns import Column

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
    return query(
        f"""\
SELECT bucket, api, client_id, broker, count(*) AS count, {percentile("latency_ms", 0.5)} AS p50_ms,
  {percentile("latency_ms", 0.9)} AS p90_ms, {percentile("latency_ms", 0.99)} AS p99_ms,
  max(latency_ms) AS max_ms, {percentile("broker_ms", 0.5)} AS broker_p50_ms,
  {percentile("broker_ms", 0.99)} AS broker_p99_ms
FROM {{exchanges}} WHERE latency_ms IS NOT NULL GROUP BY bucket, api, client_id, broker""",
        with_request(bucketed(exchanges)),
    )
