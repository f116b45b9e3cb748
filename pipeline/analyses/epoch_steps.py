"""The steps of members with group heartbeats (KIP-848, KIP-932)."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame

from barnabas.pipeline.analyses.expressions import MEMBER_IN_ORDER, OF_MEMBER, body_field, query

APIS: Final = ("ConsumerGroupHeartbeat", "ShareGroupHeartbeat")

OUT: Final = ("UNKNOWN_MEMBER_ID", "FENCED_MEMBER_EPOCH", "UNRELEASED_INSTANCE_ID")
"""Errors after which a member has to join again."""


def _is_present(path: str) -> str:
    """Return SQL: whether a body has a field that is not null."""
    # JSON's null is a VARIANT, too, and Sail returns none of arrays
    return f"get_json_object(to_json(body), '$.{path}') IS NOT NULL"


def epoch_steps(exchanges: DataFrame) -> DataFrame:
    """Return one row for each member and step, with the columns of `barnabas.pipeline.analyses.rebalances`.

    join: the first heartbeat (epoch 0). sync: from a new assignment to the heartbeat that lists the owned
    partitions, which confirms it; a share group's member confirms nothing. consuming: from there to the next
    assignment, or to the end of the membership. An assignment is never confirmed if another one follows
    immediately.
    """
    return query(
        f"""\
WITH requests AS (
  SELECT *, coalesce(answered_ns, ts_ns) AS stop_ns,
    coalesce({body_field("response.member_epoch", "int")}, generation) AS epoch,
    coalesce(error = '' AND generation = 0, false) AS joins,
    coalesce(generation < 0 OR error IN {OUT}, false) AS ends,
    error = '' AND {_is_present("response.assignment.topic_partitions")} AS assigned,
    {_is_present("request.topic_partitions")} AS owns
  FROM {{exchanges}} WHERE api IN {APIS} AND `group` IS NOT NULL AND member IS NOT NULL
), steps AS (
  SELECT *, assigned AND NOT ends AS syncs,
    max(stop_ns) OVER ({OF_MEMBER}) AS seen_ns,
    min(if(owns AND NOT ends, ts_ns, NULL)) OVER (
      {MEMBER_IN_ORDER} ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS confirmed_ns
  FROM requests
), followed AS (
  SELECT *, lead(if(ends, ts_ns, stop_ns)) OVER ({MEMBER_IN_ORDER}) AS next_ns
  FROM steps WHERE joins OR syncs OR ends
), known AS (
  SELECT *, coalesce(least(confirmed_ns, next_ns), stop_ns) AS known_ns FROM followed
)
SELECT capture, `group`, epoch AS generation, member, client_id, api AS protocol,
  CASE WHEN ends THEN if(error IN {OUT}, error, 'left') WHEN joins THEN 'new member'
    ELSE 'new assignment' END AS reason,
  joins, syncs, ends, ts_ns, stop_ns, stop_ns AS assigned_ns, known_ns, next_ns, seen_ns,
  if(joins, ts_ns, stop_ns) AS joined_ns, if(joins, stop_ns, NULL) AS join_end_ns,
  if(syncs, stop_ns, NULL) AS sync_ns, if(syncs, known_ns, NULL) AS sync_end_ns
FROM known""",
        exchanges,
    )
