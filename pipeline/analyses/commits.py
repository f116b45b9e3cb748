"""`commits`: a group's commits compared with its fetches; records consumed twice or not at all."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame

from barnabas.captures.checks.commits import FENCES
from barnabas.pipeline.analyses.expressions import query
from barnabas.pipeline.rows.columns import Column
from barnabas.specs.error_codes import ERROR_CODES

FENCE_CODES: Final = tuple(error.code for error in ERROR_CODES if error.name in FENCES)
"""The codes of errors that fence a transaction of a former member."""

COLUMNS: Final = (
    Column("group", "string", "the group"),
    Column("topic", "string", "name of the topic, or its id"),
    Column("partition", "int", "index of the partition"),
    Column("client_id", "string", "client id that fetched or committed, or null"),
    Column("committed", "bigint", "last accepted commit: the next offset to consume; or null"),
    Column("fetched_to", "bigint", "offset after the last record that it fetched, or null"),
    Column("lag", "bigint", "offsets fetched but not committed at the end; or null"),
    Column("duplicates", "bigint", "offsets fetched again that the group had fetched before"),
    Column("gaps", "bigint", "offsets skipped when it began or continued to fetch"),
    Column("commits", "bigint", "accepted commits"),
    Column("refused", "bigint", "rejected commits, without `fenced`"),
    Column(
        "fenced",
        "bigint",
        "transactional commits of a former member that were rejected, as designed (KIP-447)",
    ),
    Column("rewinds", "bigint", "commits of an offset lower than the group's last commit"),
    Column("host", "string", "the client's address"),
    Column("capture", "string", "name of the capture"),
)


def commits(exchanges: DataFrame) -> DataFrame:
    """Find records that a group consumed twice, or skipped.

    After a rebalance or a restart, a partition continues at the committed offset. Records fetched after that
    offset come again, unless the consumer committed them before it gave up the partition. Records before it
    that were not fetched are lost to the group.

    Fetch names no group: a client's fetches belong to the groups that it commits for, fetches offsets of, or
    is a member of, from the same address and with the same client id. Offsets are counted, not records:
    transaction markers and compacted records have offsets, too.
    """
    return query(
        f"""\
WITH groups AS (
  SELECT DISTINCT capture, host, client_id, `group` FROM {{exchanges}}
  WHERE `group` IS NOT NULL AND api IN (
    'OffsetCommit', 'TxnOffsetCommit', 'OffsetFetch', 'JoinGroup', 'ConsumerGroupHeartbeat')
), items AS (
  SELECT capture, host, client_id, connection, ts_ns, ordinal, api, `group`, explode(partitions) AS item
  FROM {{exchanges}} WHERE api IN ('Fetch', 'OffsetFetch', 'OffsetCommit', 'TxnOffsetCommit')
), offsets AS (
  -- a fetch session omits the offset of an unchanged partition
  SELECT *, item.topic, item.partition, item.error_code, if(api = 'Fetch',
    last_value(item.`offset`) IGNORE NULLS OVER (
      PARTITION BY api, capture, connection, item.topic, item.partition ORDER BY ts_ns, ordinal),
    item.`offset`) AS position
  FROM items
), events AS (
  SELECT offsets.capture, if(api = 'Fetch', groups.`group`, offsets.`group`) AS `group`, topic, partition,
    offsets.host, offsets.client_id, connection, ts_ns, ordinal, position,
    api = 'Fetch' AND item.records > 0 AS fetches,
    if(api = 'Fetch' AND item.records > 0, item.last_offset + 1, NULL) AS next,
    if(api LIKE '%Commit' AND error_code = 0, position, NULL) AS accepted,
    if(api = 'OffsetFetch' AND position >= 0, position, NULL) AS stored,
    api = 'TxnOffsetCommit' AND error_code IN {FENCE_CODES} AS fenced,
    api LIKE '%Commit' AND error_code <> 0 AS rejected
  FROM offsets LEFT JOIN groups ON api = 'Fetch' AND offsets.capture = groups.capture
    AND offsets.host <=> groups.host AND offsets.client_id <=> groups.client_id
), compared AS (
  SELECT *, max(next) OVER before AS up_to, max(accepted) OVER before AS accepted_before,
    last_value(coalesce(accepted, stored)) IGNORE NULLS OVER before AS stored_before
  FROM events WHERE `group` IS NOT NULL WINDOW before AS (
    PARTITION BY capture, `group`, topic, partition ORDER BY ts_ns, connection, ordinal
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
), sums AS (
  SELECT capture, `group`, topic, partition, host, client_id,
    max_by(accepted, if(accepted IS NULL, NULL, ts_ns)) AS committed, max(next) AS fetched_to,
    coalesce(sum(if(fetches AND up_to IS NOT NULL, greatest(least(up_to, next) - position, 0), 0)), 0)
      AS duplicates,
    coalesce(sum(if(fetches, greatest(position - coalesce(up_to, stored_before), 0), 0)), 0) AS gaps,
    count(accepted) AS commits, count_if(rejected AND NOT fenced) AS refused, count_if(fenced) AS fenced,
    count_if(accepted < accepted_before) AS rewinds
  FROM compared GROUP BY capture, `group`, topic, partition, host, client_id
)
SELECT `group`, topic, partition, client_id, committed, fetched_to,
  if(committed IS NULL OR fetched_to IS NULL, NULL, greatest(fetched_to - committed, 0)) AS lag,
  duplicates, gaps, commits, refused, fenced, rewinds, host, capture
FROM sums WHERE committed IS NOT NULL OR fetched_to IS NOT NULL OR refused + fenced > 0""",
        exchanges,
    )
