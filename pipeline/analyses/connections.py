"""`connections`: how many connections each client opens, and how long they last."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame

from barnabas.pipeline.analyses.expressions import captured, query
from barnabas.pipeline.rows.columns import Column

COLUMNS: Final = (
    Column("client_id", "string", "the client, or null"),
    Column("user", "string", "its authenticated user, or null"),
    Column("host", "string", "the client's address"),
    Column("count", "bigint", "connections with a request"),
    Column("servers", "bigint", "different addresses that it connected to"),
    Column("median_ms", "double", "median time from the first request to the end of the last exchange"),
    Column("requests", "double", "requests of a connection, on average"),
    Column("start", "timestamp", "time of the first request"),
    Column("end", "timestamp", "time of the first request on the last connection"),
    Column("capture", "string", "name of the capture"),
)  # fmt: skip


def connections(exchanges: DataFrame) -> DataFrame:
    """Count the connections of each client, and measure how long they are used.

    A client keeps about one connection to each broker for minutes (connections.max.idle.ms is 9 by default).
    Connections on which no request was captured do not count: the names of their clients are unknown.
    """
    return query(
        """\
WITH each AS (
  SELECT capture, connection, host, max(client_id) AS client_id, max(user) AS user,
    first(server_address) AS server, min(ts) AS start, count(*) AS requests,
    (max(coalesce(end_ns, ts_ns)) - min(ts_ns)) / 1000000D AS used_ms
  FROM {exchanges} WHERE key >= 0 GROUP BY capture, connection, host
)
SELECT client_id, user, host, count(*) AS count, count(DISTINCT server) AS servers,
  percentile_disc(0.5) WITHIN GROUP (ORDER BY used_ms) AS median_ms, avg(requests) AS requests,
  min(start) AS start, max(start) AS end, capture
FROM each GROUP BY capture, client_id, user, host""",
        captured(exchanges),
    )
