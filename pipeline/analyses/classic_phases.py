"""The phases of members of classic groups: JoinGroup, SyncGroup, and the times between and after them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from barnabas.captures.kafka.phrases.groups import GIVEN_ID
from barnabas.pipeline.analyses.expressions import answered_ns, body_field

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

APIS: Final = ("JoinGroup", "SyncGroup", "LeaveGroup", "Heartbeat", "OffsetCommit")

OUT: Final = ("UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "FENCED_INSTANCE_ID")
"""Errors for a client that is no member, or has a past generation."""

JOINED, SYNCED, ENDED = "joined", "synced", "ended"


def phase(name: str, start: Column, stop: Column) -> Column:
    """Return a phase as a structure; times in ns since the epoch."""
    return F.struct(F.lit(name).alias("phase"), start.alias("start_ns"), stop.alias("stop_ns"))


def classic_phases(exchanges: DataFrame) -> DataFrame:
    """Return one row for each member and phase; times in ns since the epoch."""
    return _phases(_generations(_steps(exchanges)))


def _steps(exchanges: DataFrame) -> DataFrame:
    """Return the steps of each member, and the time at which it was last seen."""
    refused = F.col("error").isin(*OUT)
    member = Window.partitionBy("capture", "group", "member")
    # the coordinator tells a new member to join again with an id (KIP-394)
    id_assigned = F.lag("error").over(member.orderBy("ts_ns", "ordinal")) == "MEMBER_ID_REQUIRED"
    new = (body_field("request.member_id", "string") == "") | F.coalesce(id_assigned, F.lit(False))
    step = (
        F.when((F.col("api") == "JoinGroup") & (F.col("error") == ""), JOINED)
        .when((F.col("api") == "SyncGroup") & (F.col("error") == ""), SYNCED)
        .when((F.col("api") == "LeaveGroup") | refused, ENDED)
    )
    # (KIP-800)
    joins, leaves = (
        body_field("request.reason", "string"),
        body_field("request.members[0].reason", "string"),
    )
    join_reason = F.when(~joins.startswith(GIVEN_ID), F.nullif(joins, F.lit("")))
    whys = (
        F.when(F.col("api") == "LeaveGroup", F.coalesce(F.nullif(leaves, F.lit("")), F.lit("left")))
        .when(refused, F.col("error"))
        .otherwise(F.coalesce(join_reason, F.when(new, "new member").otherwise("rejoins")))
    )
    return (
        exchanges.where(F.col("api").isin(*APIS))
        .where("`group` is not null and member is not null")
        .repartition("capture", "group")  # so that no window below needs a shuffle
        .withColumn("protocol", F.lit("classic"))
        .withColumn("stop_ns", F.coalesce(answered_ns(), F.col("ts_ns")))
        .withColumn("seen_ns", F.max("stop_ns").over(member))
        .withColumn("step", step)
        .withColumn("reason", F.when(F.col("step") != SYNCED, whys))
        .where("step is not null")
        # each request in flight of a stopped member gets the same error
        .withColumn("before", F.lag("step").over(member.orderBy("ts_ns", "ordinal")))
        .where(f"not (step = '{ENDED}' and coalesce(before, '') = '{ENDED}')")
    )


def _generations(steps: DataFrame) -> DataFrame:
    """Return each step with the values of its generation, for the member and for the group."""
    in_order = Window.partitionBy("capture", "group", "member").orderBy("ts_ns", "ordinal")
    of_member = Window.partitionBy("capture", "group", "generation", "member")
    all_of_it = Window.partitionBy("capture", "group", "generation")
    joined, synced = F.col("step") == JOINED, F.col("step") == SYNCED
    return (
        steps.withColumn("next_ns", F.lead("ts_ns").over(in_order))
        .withColumn(
            "generation",
            F.coalesce("generation", F.last("generation", ignorenulls=True).over(in_order)),
        )
        .withColumn("joined_ns", F.max(F.when(joined, F.col("ts_ns"))).over(of_member))
        .withColumn("join_end_ns", F.max(F.when(joined, F.col("stop_ns"))).over(of_member))
        .withColumn("sync_ns", F.min(F.when(synced, F.col("ts_ns"))).over(of_member))
        .withColumn("sync_end_ns", F.min(F.when(synced, F.col("stop_ns"))).over(of_member))
        .withColumn("first_joined_ns", F.min("joined_ns").over(all_of_it))
        .withColumn("all_known_ns", F.max("sync_end_ns").over(all_of_it))
        .withColumn(
            "reason",
            F.coalesce("reason", F.max(F.when(joined, F.col("reason"))).over(of_member)),
        )
    )


def _phases(steps: DataFrame) -> DataFrame:
    start, stop = F.col("ts_ns"), F.col("stop_ns")
    until = F.coalesce("next_ns", F.greatest("seen_ns", "stop_ns"))
    phases = (
        F.when(F.col("step") == JOINED, F.array(phase("join", start, stop)))
        .when(
            F.col("step") == SYNCED,
            F.array(phase("sync", start, stop), phase("consuming", stop, until)),
        )
        .otherwise(F.array(phase("stopped", start, F.coalesce("next_ns", "stop_ns"))))
    )
    columns = (
        *("capture", "group", "generation", "member", "client_id", "protocol", "reason"),
        *("joined_ns", "join_end_ns", "sync_ns", "sync_end_ns", "first_joined_ns", "all_known_ns"),
    )
    return steps.select(*columns, F.explode(phases).alias("item")).select(*columns, "item.*")
