"""`heartbeats`: how close members come to the end of their session."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame

from barnabas.pipeline.analyses.expressions import MEMBER_IN_ORDER, NS, OF_MEMBER, body_field, query
from barnabas.pipeline.rows.columns import Column

CLASSIC: Final = ("JoinGroup", "SyncGroup", "Heartbeat", "OffsetCommit")
NEW: Final = ("ConsumerGroupHeartbeat", "ShareGroupHeartbeat", "StreamsGroupHeartbeat")

THROWN_OUT: Final = ("UNKNOWN_MEMBER_ID", "FENCED_MEMBER_EPOCH", "FENCED_INSTANCE_ID")
"""Errors for a member that the coordinator has removed."""

ALIVE: Final = ("", "REBALANCE_IN_PROGRESS")
"""Errors for a member that the coordinator knows."""

COLUMNS: Final = (
    Column("group", "string", "the group"),
    Column("member", "string", "member id"),
    Column("client_id", "string", "the client, or null"),
    Column("protocol", "string", "classic, or the API of its heartbeats (KIP-848, 932, 1071)"),
    Column(
        "session_timeout_ms",
        "int",
        "session timeout of its JoinGroup; null: not captured, or set by the broker",
    ),
    Column("interval_ms", "int", "heartbeat interval that the broker demands (KIP-848); null: classic"),
    Column("heartbeats", "bigint", "heartbeats of the member"),
    Column("max_gap_ms", "double", "longest time between two heartbeats or commits, or null"),
    Column("share", "double", "that time as a share of the session timeout: 1 and more is too late"),
    Column("intervals", "double", "that time in heartbeat intervals of the broker (KIP-848)"),
    Column("expired", "boolean", "whether its session expired"),
    Column("last_ts", "timestamp", "time of its last heartbeat or commit"),
    Column("capture", "string", "name of the capture"),
)  # fmt: skip


def heartbeats(exchanges: DataFrame) -> DataFrame:
    """Find members that came close to the end of their session, or were removed from their group.

    In a classic group, a member that is silent for its session timeout is removed; it should send three
    heartbeats in that time. OffsetCommit counts as a heartbeat, and a member that waits in JoinGroup or
    SyncGroup need not send any. The broker sets the heartbeat interval of members of KIP-848, and their
    session timeout (default 45 s). A silence with a gap of the capture in it does not count.
    """
    return query(
        f"""\
WITH requests AS (
  SELECT *, api IN {NEW} AS is_new, if(api = 'OffsetCommit', ts_ns, answered_ns) AS heard_ns,
    error IN {ALIVE} AND latency_ms IS NOT NULL AND NOT (api IN {NEW} AND generation < 0) AS is_alive,
    if(api IN {NEW}, generation > 0, api IN ('Heartbeat', 'OffsetCommit')) AS ends_silence,
    max(if(api IN {NEW}, api, NULL)) OVER ({OF_MEMBER}) AS new_api,
    {body_field("request.session_timeout_ms", "int")} AS session_timeout_ms,
    {body_field("response.heartbeat_interval_ms", "int")} AS interval_ms
  FROM {{exchanges}} WHERE api IN {(*CLASSIC, *NEW)} AND `group` IS NOT NULL AND member IS NOT NULL
    AND (api <> 'JoinGroup' OR error = '')
), signs AS (
  SELECT *, last_value(session_timeout_ms) IGNORE NULLS OVER ({MEMBER_IN_ORDER}) AS timeout_ms,
    last_value(if(new_api IS NULL OR is_new,
      named_struct('ns', if(is_alive, heard_ns, NULL), 'losses', losses), NULL)) IGNORE NULLS OVER (
      {MEMBER_IN_ORDER} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS sign
  FROM requests
), silences AS (
  SELECT *, if(ends_silence AND sign.losses = losses, (ts_ns - sign.ns) / {NS}D, NULL) AS gap_ms
  FROM signs
)
SELECT `group`, member, max_by(client_id, ts_ns) AS client_id, coalesce(max(new_api), 'classic') AS protocol,
  max_by(timeout_ms, ts_ns) AS session_timeout_ms, max(interval_ms) AS interval_ms,
  count_if(api = 'Heartbeat' OR is_new) AS heartbeats, max(gap_ms) AS max_gap_ms,
  max(gap_ms / timeout_ms) AS share, max(gap_ms) / max(interval_ms) AS intervals,
  bool_or(coalesce(gap_ms > timeout_ms, false) OR coalesce(error IN {THROWN_OUT}, false)) AS expired,
  max(ts) AS last_ts, capture
FROM silences GROUP BY capture, `group`, member HAVING count_if(api = 'Heartbeat' OR is_new) > 0""",
        exchanges,
    )
