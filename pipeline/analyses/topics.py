"""`topics`: who writes and who reads each topic."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame

from barnabas.captures.kafka.notes import NOT_CAPTURED
from barnabas.pipeline.analyses.expressions import query
from barnabas.pipeline.rows.columns import Column

COLUMNS: Final = (
    Column("topic", "string", "name of the topic, or its id"),
    Column("access", "string", "write or read"),
    Column("client_id", "string", "the client, or null"),
    Column("user", "string", "its authenticated user, or null"),
    Column("host", "string", "the client's address"),
    Column("groups", "string", "a reader's groups: it is a member, or commits for them; or null"),
    Column("partitions", "bigint", "number of partitions that it wrote or read"),
    Column(
        "records",
        "bigint",
        "records, without those of compressed messages of magic 0 and 1; null: no response was captured",
    ),
    Column("bytes", "bigint", "their bytes, compressed as on the wire; null: no response was captured"),
    Column("share", "double", "share of the bytes that all clients wrote or read: 0 to 1; null: none did"),
    Column("start", "timestamp", "time of the first request"),
    Column("end", "timestamp", "time of the last request"),
    Column("capture", "string", "name of the capture"),
)  # fmt: skip


def topics(exchanges: DataFrame) -> DataFrame:
    """Sum the records and bytes that each client wrote to and read from each topic.

    Only successful requests count. Fetches of replicas do not.
    """
    return query(
        f"""\
WITH memberships AS (
  SELECT capture, host, client_id, array_join(array_sort(collect_set(`group`)), ', ') AS groups
  FROM {{exchanges}} WHERE `group` IS NOT NULL AND api IN (
    'JoinGroup', 'ConsumerGroupHeartbeat', 'ShareGroupHeartbeat', 'OffsetCommit', 'TxnOffsetCommit')
  GROUP BY capture, host, client_id
), accesses AS (
  SELECT capture, host, client_id, user, ts, if(api = 'Produce', 'write', 'read') AS access,
    if(api <> 'Produce' AND note = '{NOT_CAPTURED}', NULL, 0) AS least, explode(partitions) AS item
  FROM {{exchanges}}
  WHERE api IN ('Produce', 'ShareFetch') OR (api = 'Fetch' AND seen.places IS NOT NULL)
), sums AS (
  SELECT capture, item.topic, access, client_id, user, host,
    count(DISTINCT item.partition) AS partitions, sum(coalesce(item.records, least)) AS records,
    sum(coalesce(item.bytes, least)) AS bytes, min(ts) AS start, max(ts) AS end
  FROM accesses WHERE coalesce(item.error_code, 0) = 0
  GROUP BY capture, item.topic, access, client_id, user, host
)
SELECT topic, access, sums.client_id, user, sums.host, groups,
  partitions, records, bytes,
  bytes / nullif(sum(bytes) OVER (PARTITION BY sums.capture, topic, access), 0) AS share,
  start, end, sums.capture
FROM sums LEFT JOIN memberships ON sums.capture = memberships.capture AND sums.host = memberships.host
  AND sums.client_id <=> memberships.client_id AND access = 'read'""",
        exchanges,
    )
