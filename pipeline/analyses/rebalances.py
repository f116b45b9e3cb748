"""`rebalances`: the phases of each member of a group: joining, syncing, consuming, stopped."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame

from barnabas.pipeline.analyses.classic_steps import classic_steps
from barnabas.pipeline.analyses.epoch_steps import epoch_steps
from barnabas.pipeline.analyses.expressions import NS, moment, query
from barnabas.pipeline.analyses.generations import generations
from barnabas.pipeline.rows.columns import Column

COLUMNS: Final = (
    Column("group", "string", "the group"),
    Column("generation", "int", "generation, or the member's epoch (KIP-848); null: not known"),
    Column("member", "string", "member id"),
    Column("client_id", "string", "the client, or null"),
    Column("phase", "string", "join, sync, consuming or stopped"),
    Column("start", "timestamp", "when the phase began"),
    Column("end", "timestamp", "when it ended, or the member was last seen in it"),
    Column("joined_ts", "timestamp", "when the member asked to join this generation; or null"),
    Column("join_ms", "double", "how long JoinGroup waited for its response; KIP-848: the first heartbeat"),
    Column(
        "sync_ms",
        "double",
        "how long SyncGroup took; KIP-848: until the member confirmed its assignment",
    ),
    Column(
        "late",
        "boolean",
        "whether others waited for it, from when it was told, more than half of the generation's time",
    ),
    Column("standstill_ms", "double", "from its JoinGroup until it had its assignment"),
    Column(
        "group_standstill_ms",
        "double",
        "from the first JoinGroup until the last member had its assignment",
    ),
    Column(
        "reason",
        "string",
        "reason that the client gave (KIP-800), or what the capture "
        "shows; stopped: how the member stopped",
    ),
    Column("protocol", "string", "classic, or the API of its heartbeats (KIP-848, 932)"),
    Column("capture", "string", "name of the capture"),
    Column("began_ts", "timestamp", "when the first member asked for the generation", 2),
    Column("members", "int", "members of the generation, as its leader was told", 2),
    Column(
        "missed",
        "array<string>",
        "ids of members that did not join the generation, though others waited for them",
        2,
    ),
)  # fmt: skip


def rebalances(exchanges: DataFrame) -> DataFrame:
    """Show when members joined, which were late, and how long delivery stopped.

    The coordinator of a classic group responds to no JoinGroup until all known members have sent one or the
    rebalance timeout is over (KIP-62), and a consumer joins when it polls. So a member that is busy with its
    records makes the others wait, and a new member gets no records. From JoinGroup to the response of
    SyncGroup a consumer fetches nothing (cooperative ones of KIP-429 continue with the partitions they keep).
    KIP-848 has no such wait: each member gives up and takes partitions independently.
    """
    # so that no window of steps needs a shuffle
    by_group = exchanges.repartition("capture", "group")
    return query(
        f"""\
WITH phases AS (
  SELECT *, explode(array_compact(array(
      {_phase("join", "joins", "ts_ns", "stop_ns")},
      {_phase("sync", "syncs", "assigned_ns", "known_ns")},
      {_phase("consuming", "syncs", "known_ns", "coalesce(next_ns, seen_ns)")},
      {_phase("stopped", "ends", "ts_ns", "coalesce(next_ns, stop_ns)")}))) AS item,
    (max(sync_end_ns) OVER same - min(joined_ns) OVER same) / {NS}D AS group_standstill_ms
  FROM {{steps}} WINDOW same AS (PARTITION BY capture, `group`, generation, protocol = 'classic')
)
SELECT `group`, generation, member, client_id, item.phase,
  {moment("item.start_ns")} AS start, {moment("greatest(item.start_ns, item.stop_ns)")} AS end,
  {moment("joined_ns")} AS joined_ts, (join_end_ns - joined_ns) / {NS}D AS join_ms,
  (sync_end_ns - sync_ns) / {NS}D AS sync_ms,
  coalesce(array_contains(late_members, member), false) AS late,
  (sync_end_ns - joined_ns) / {NS}D AS standstill_ms, group_standstill_ms, reason, protocol, capture,
  {moment("began_ns")} AS began_ts, members, missed
FROM phases LEFT JOIN {{generations}} USING (capture, `group`, generation)""",
        exchanges,
        steps=classic_steps(by_group).unionByName(epoch_steps(by_group)),
        generations=generations(exchanges),
    )


def _phase(name: str, condition: str, start_ns: str, stop_ns: str) -> str:
    """Return SQL: a phase of a member's step; null without the condition."""
    phase = f"'phase', '{name}', 'start_ns', {start_ns}, 'stop_ns', {stop_ns}"
    return f"if({condition}, named_struct({phase}), NULL)"
