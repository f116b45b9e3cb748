"""`lag`: how far the commits of each group are behind the ends of its partitions, over time."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame

from barnabas.pipeline.analyses.buckets import bucketed
from barnabas.pipeline.analyses.expressions import query
from barnabas.pipeline.rows.columns import Column

COLUMNS: Final = (
    Column("bucket", "timestamp", "start of the time bucket"),
    Column("group", "string", "the group"),
    Column("topic", "string", "name of the topic, or its id"),
    Column("partition", "int", "index of the partition"),
    Column("end_offset", "bigint", "highest known end of the partition by then"),
    Column("committed", "bigint", "last known committed offset by then"),
    Column("lag", "bigint", "difference of the two, at least 0"),
    Column("committed_ts", "timestamp", "time of the last commit by then; null: none in the capture"),
    Column("capture", "string", "name of the capture"),
)  # fmt: skip


def lag(exchanges: DataFrame) -> DataFrame:
    """Compare the committed offset of each group and partition with the partition's end, over time.

    The end is the high watermark of a Fetch, or the offset after the last record of a Produce, of any client.
    A committed offset is known from a commit, or from the response to an OffsetFetch.
    """
    return query(
        """\
WITH items AS (
  SELECT bucket, capture, `group`, api, ts, ts_ns, explode(partitions) AS item FROM {exchanges}
  WHERE api IN ('Produce', 'Fetch', 'OffsetCommit', 'TxnOffsetCommit', 'OffsetFetch')
), offsets AS (
  SELECT bucket, capture, `group`, item.topic, item.partition, ts, ts_ns, api LIKE '%Commit' AS commits,
    CASE api WHEN 'Produce' THEN item.last_offset + 1 WHEN 'Fetch' THEN item.high_watermark END AS end_offset,
    if(api LIKE '%Offset%', item.offset, NULL) AS committed
  FROM items WHERE coalesce(item.error_code, 0) = 0
), ends AS (
  SELECT capture, topic, partition, bucket, max(end_offset) AS end_offset
  FROM offsets WHERE end_offset >= 0
  GROUP BY capture, topic, partition, bucket
), commits AS (
  SELECT capture, `group`, topic, partition, bucket, max_by(committed, ts_ns) AS committed,
    max(if(commits, ts, NULL)) AS committed_ts
  FROM offsets WHERE committed >= 0 AND `group` IS NOT NULL
  GROUP BY capture, `group`, topic, partition, bucket
), times AS (
  SELECT capture, `group`, topic, partition, bucket
  FROM (SELECT DISTINCT capture, `group`, topic, partition FROM commits)
    JOIN (SELECT capture, topic, bucket FROM ends UNION SELECT capture, topic, bucket FROM commits)
    USING (capture, topic)
), known AS (
  SELECT capture, `group`, topic, partition, bucket, max(end_offset) OVER by_then AS end_offset,
    last_value(committed) IGNORE NULLS OVER by_then AS committed,
    max(committed_ts) OVER by_then AS committed_ts
  FROM times LEFT JOIN ends USING (capture, topic, partition, bucket)
    LEFT JOIN commits USING (capture, `group`, topic, partition, bucket)
  WINDOW by_then AS (PARTITION BY capture, `group`, topic, partition ORDER BY bucket)
)
SELECT bucket, `group`, topic, partition, end_offset, committed,
  greatest(end_offset - committed, 0) AS lag, committed_ts, capture
FROM known WHERE end_offset IS NOT NULL AND committed IS NOT NULL""",
        bucketed(exchanges),
    )
