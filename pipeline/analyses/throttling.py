"""`throttling`: clients that brokers slow down by a quota."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame

from barnabas.pipeline.analyses.expressions import query
from barnabas.pipeline.rows.columns import Column

COLUMNS: Final = (
    Column("client_id", "string", "the client, or null"),
    Column("user", "string", "its authenticated user, or null"),
    Column("host", "string", "the client's address"),
    Column("broker", "int", "node id of the broker, or null"),
    Column("quota", "string", "produce, fetch, controller mutation or request; see the docstring"),
    Column("count", "bigint", "responses with a throttle time"),
    Column("total_ms", "bigint", "sum of their throttle times"),
    Column("longest_ms", "int", "longest of them"),
    Column("start", "timestamp", "time of the first such request"),
    Column("end", "timestamp", "time of the last such request"),
    Column("capture", "string", "name of the capture"),
)


def throttling(exchanges: DataFrame) -> DataFrame:
    """Sum the throttle times that brokers impose on each client.

    The API tells the quota apart: bytes of Produce and of Fetch, mutations of the controller (KIP-599), and
    the share of the broker's threads (KIP-124) for all others. A Produce or Fetch response has the longer one
    of its own throttle time and that of the request quota, so it may be the latter. Since KIP-219 (Kafka 2.0)
    the broker responds at once, and the client waits; before, the response itself is late.
    """
    return query(
        """\
WITH throttled AS (
  SELECT *, CASE WHEN api = 'Produce' THEN 'produce'
    WHEN api IN ('Fetch', 'ShareFetch') THEN 'fetch'
    WHEN api IN ('CreateTopics', 'DeleteTopics', 'CreatePartitions') THEN 'controller mutation'
    ELSE 'request' END AS quota
  FROM {exchanges} WHERE throttle_ms > 0
)
SELECT client_id, user, host, broker, quota,
  count(*) AS count, sum(throttle_ms) AS total_ms, max(throttle_ms) AS longest_ms,
  min(ts) AS start, max(ts) AS end, capture
FROM throttled GROUP BY capture, client_id, user, host, broker, quota""",
        exchanges,
    )
