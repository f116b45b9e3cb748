"""The steps of members of classic groups: they join with JoinGroup, sync with SyncGroup, and end."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame

from barnabas.captures.kafka.phrases.groups import GIVEN_ID
from barnabas.pipeline.analyses.expressions import MEMBER_IN_ORDER, OF_MEMBER, body_field, query

APIS: Final = ("JoinGroup", "SyncGroup", "LeaveGroup", "Heartbeat", "OffsetCommit")

OUT: Final = ("UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "FENCED_INSTANCE_ID")
"""Errors for a client that is no member, or has a past generation."""


def classic_steps(exchanges: DataFrame) -> DataFrame:
    """Return one row for each member and step, with the columns of `barnabas.pipeline.analyses.rebalances`.

    Each request in flight of a stopped member gets the same error: the first one is a step. The coordinator
    tells a new member to join again with an id (KIP-394). Members and clients give reasons since KIP-800.
    """
    return query(
        f"""\
WITH requests AS (
  SELECT *, coalesce(answered_ns, ts_ns) AS stop_ns,
    max(coalesce(answered_ns, ts_ns)) OVER ({OF_MEMBER}) AS seen_ns,
    CASE WHEN api = 'LeaveGroup' OR error IN {OUT} THEN 'ends'
      WHEN api = 'JoinGroup' AND error = '' THEN 'joins' WHEN api = 'SyncGroup' AND error = '' THEN 'syncs'
    END AS step,
    CASE WHEN api = 'LeaveGroup'
      THEN coalesce(nullif({body_field("request.members[0].reason", "string")}, ''), 'left')
      WHEN error IN {OUT} THEN error
      WHEN NOT startswith({body_field("request.reason", "string")}, '{GIVEN_ID}')
        THEN nullif({body_field("request.reason", "string")}, '') END AS given,
    {body_field("request.member_id", "string")} = '' OR coalesce(
      lag(error) OVER ({MEMBER_IN_ORDER}) = 'MEMBER_ID_REQUIRED', false) AS is_new
  FROM {{exchanges}} WHERE api IN {APIS} AND `group` IS NOT NULL AND member IS NOT NULL
), steps AS (
  SELECT *, lag(step) OVER ({MEMBER_IN_ORDER}) AS step_before,
    if(step = 'syncs', NULL, coalesce(given, if(is_new, 'new member', 'rejoins'))) AS why
  FROM requests WHERE step IS NOT NULL
), numbered AS (
  SELECT *, lead(ts_ns) OVER ({MEMBER_IN_ORDER}) AS next_ns,
    coalesce(generation, last_value(generation) IGNORE NULLS OVER ({MEMBER_IN_ORDER})) AS number
  FROM steps WHERE step <> 'ends' OR coalesce(step_before, '') <> 'ends'
)
SELECT capture, `group`, number AS generation, member, client_id, 'classic' AS protocol,
  coalesce(why, max(if(step = 'joins', why, NULL)) OVER of_member) AS reason,
  step = 'joins' AS joins, step = 'syncs' AS syncs, step = 'ends' AS ends,
  ts_ns, stop_ns, ts_ns AS assigned_ns, stop_ns AS known_ns, next_ns, seen_ns,
  max(if(step = 'joins', ts_ns, NULL)) OVER of_member AS joined_ns,
  max(if(step = 'joins', stop_ns, NULL)) OVER of_member AS join_end_ns,
  min(if(step = 'syncs', ts_ns, NULL)) OVER of_member AS sync_ns,
  min(if(step = 'syncs', stop_ns, NULL)) OVER of_member AS sync_end_ns
FROM numbered WINDOW of_member AS (PARTITION BY capture, `group`, number, member)""",
        exchanges,
    )
