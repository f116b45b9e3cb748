"""`in_flight`: the number of requests in flight on a connection (pipelining)."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame

from barnabas.captures.kafka.notes import NOT_CAPTURED, UNANSWERED
from barnabas.pipeline.analyses.buckets import bucketed
from barnabas.pipeline.analyses.expressions import captured, query, with_request
from barnabas.pipeline.rows.columns import Column

COLUMNS: Final = (
    Column("bucket", "timestamp", "start of the time bucket"),
    Column("client_id", "string", "the client, or null"),
    Column("broker", "int", "node id of the broker, or null"),
    Column("connection", "bigint", "number of the connection within its capture"),
    Column("depth_max", "bigint", "most requests in flight at once"),
    Column(
        "depth_mean",
        "double",
        "mean number of requests in flight when a request was sent, itself included",
    ),
    Column("produce_depth_max", "bigint", "most requests in flight when a Produce was sent; or null"),
    Column("capture", "string", "name of the capture"),
)  # fmt: skip


def in_flight(exchanges: DataFrame) -> DataFrame:
    """Count the requests that clients have in flight.

    A single request in flight halves a producer's throughput. Several may reorder records if the producer is
    not idempotent (max.in.flight.requests.per.connection, KAFKA-5494).

    Requests without a response (acks=0) do not count, nor do those whose response was not captured. A request
    that was never answered counts until its connection ends.
    """
    return query(
        f"""\
WITH steps AS (
  SELECT bucket, capture, connection, client_id, broker, api, explode(array(
    named_struct('at', ts_ns, 'step', 1), named_struct('at', coalesce(answered_ns, end_ns), 'step', -1)
  )) AS item
  FROM {{exchanges}} WHERE note NOT IN ('{UNANSWERED}', '{NOT_CAPTURED}')
), depths AS (
  SELECT *, greatest(1, sum(item.step) OVER (
    PARTITION BY capture, connection ORDER BY item.at, item.step)) AS depth
  FROM steps WHERE item.at IS NOT NULL
)
SELECT bucket, client_id, broker, connection, max(depth) AS depth_max, avg(depth) AS depth_mean,
  max(if(api = 'Produce', depth, NULL)) AS produce_depth_max, capture
FROM depths WHERE item.step = 1 GROUP BY bucket, client_id, broker, connection, capture""",
        captured(with_request(bucketed(exchanges))),
    )
