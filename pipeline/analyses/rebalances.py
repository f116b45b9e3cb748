"""`rebalances`: the phases of each member of a group: joining, syncing, consuming, stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from barnabas.pipeline.analyses.classic_phases import classic_phases
from barnabas.pipeline.analyses.epoch_phases import epoch_phases
from barnabas.pipeline.analyses.expressions import moment, ms
from barnabas.pipeline.analyses.generations import generations
from barnabas.pipeline.rows.columns import Column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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
    phases = classic_phases(exchanges).unionByName(epoch_phases(exchanges))
    by_generation = generations(exchanges)
    return phases.join(by_generation, ["capture", "group", "generation"], "left").select(
        *("group", "generation", "member", "client_id", "phase"),
        moment(F.col("start_ns")).alias("start"),
        moment(F.greatest("start_ns", "stop_ns")).alias("end"),
        moment(F.col("joined_ns")).alias("joined_ts"),
        ms(F.col("join_end_ns") - F.col("joined_ns")).alias("join_ms"),
        ms(F.col("sync_end_ns") - F.col("sync_ns")).alias("sync_ms"),
        F.coalesce(F.array_contains("late_members", F.col("member")), F.lit(False)).alias("late"),
        ms(F.col("sync_end_ns") - F.col("joined_ns")).alias("standstill_ms"),
        ms(F.col("all_known_ns") - F.col("first_joined_ns")).alias("group_standstill_ms"),
        *("reason", "protocol", "capture"),
        moment(F.col("began_ns")).alias("began_ts"),
        *("members", "missed"),
    )
