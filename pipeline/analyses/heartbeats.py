"""`heartbeats`: how close members come to the end of their session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from barnabas.pipeline.analyses.expressions import answered_ns, body_field, ms
from barnabas.pipeline.rows.columns import Column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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
    in_order = Window.partitionBy("capture", "group", "member").orderBy("ts_ns", "ordinal")
    new = F.col("api").isin(*NEW)
    beats = F.col("api").isin("Heartbeat", *NEW)
    alive = F.col("error").isin(*ALIVE) & F.col("latency_ms").isNotNull()
    heard = F.when(F.col("api") == "OffsetCommit", F.col("ts_ns")).otherwise(answered_ns())
    ends_silence = F.when(new, F.col("generation") > 0).otherwise(
        F.col("api").isin("Heartbeat", "OffsetCommit")
    )
    newer = F.max(F.when(new, F.col("api"))).over(Window.partitionBy("capture", "group", "member"))
    heard_of = newer.isNull() | new
    leaving = new & (F.col("generation") < 0)
    sign = F.when(heard_of, F.struct(F.when(alive & ~leaving, heard).alias("ns"), "losses"))
    before = in_order.rowsBetween(Window.unboundedPreceding, -1)
    unbroken = F.col("sign.losses") == F.col("losses")
    signs = (
        exchanges.where(F.col("api").isin(*CLASSIC, *NEW))
        .where("`group` is not null and member is not null")
        .where("api <> 'JoinGroup' or error = ''")
        .withColumn("session", body_field("request.session_timeout_ms", "int"))
        .withColumn("interval", body_field("response.heartbeat_interval_ms", "int"))
        .withColumn("sign", F.last(sign, ignorenulls=True).over(before))
        .withColumn("timeout", F.last("session", ignorenulls=True).over(in_order))
        .withColumn("gap", F.when(ends_silence & unbroken, ms(F.col("ts_ns") - F.col("sign.ns"))))
        .withColumn("late", F.coalesce(F.col("gap") > F.col("timeout"), F.lit(False)))
    )
    return (
        signs.groupBy("capture", "group", "member")
        .agg(
            F.max_by("client_id", "ts_ns").alias("client_id"),
            F.max(F.when(new, F.col("api"))).alias("newer"),
            F.max_by("timeout", "ts_ns").alias("session_timeout_ms"),
            F.max("interval").alias("interval_ms"),
            F.count(F.when(beats, 1)).alias("heartbeats"),
            F.max("gap").alias("max_gap_ms"),
            F.max(F.col("gap") / F.col("timeout")).alias("share"),
            F.bool_or(
                F.col("late") | F.coalesce(F.col("error").isin(*THROWN_OUT), F.lit(False))
            ).alias("expired"),
            F.max("ts").alias("last_ts"),
        )
        .withColumn("protocol", F.coalesce("newer", F.lit("classic")))
        .withColumn("intervals", F.col("max_gap_ms") / F.col("interval_ms"))
        .where("heartbeats > 0")
        .select(*(column.name for column in COLUMNS))
    )
