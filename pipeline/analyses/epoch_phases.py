"""The phases of members with group heartbeats (KIP-848, KIP-932)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from barnabas.pipeline.analyses.classic_phases import phase
from barnabas.pipeline.analyses.expressions import answered_ns, body_field

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

APIS: Final = ("ConsumerGroupHeartbeat", "ShareGroupHeartbeat")

OUT: Final = ("UNKNOWN_MEMBER_ID", "FENCED_MEMBER_EPOCH", "UNRELEASED_INSTANCE_ID")
"""Errors after which a member has to join again."""


def _is_present(path: str) -> Column:
    """Return whether a body has a field that is not null."""
    # JSON's null is a VARIANT, too, and Sail returns none of arrays
    return F.get_json_object(F.to_json("body"), f"$.{path}").isNotNull()


def epoch_phases(exchanges: DataFrame) -> DataFrame:
    """Return one row for each member and phase; times in ns since the epoch.

    join: the first heartbeat (epoch 0). sync: from a new assignment to the heartbeat that lists the owned
    partitions, which confirms it; a share group's member confirms nothing. consuming: from there to the next
    assignment, or to the end of the membership.
    """
    in_order = Window.partitionBy("capture", "group", "member").orderBy("ts_ns", "ordinal")
    following = in_order.rowsBetween(1, Window.unboundedFollowing)
    member = Window.partitionBy("capture", "group", "member")
    epoch = Window.partitionBy("capture", "group", "generation")
    fine = F.col("error") == ""
    joins = fine & (F.col("requested") == 0)
    ends = (F.col("requested") < 0) | F.col("error").isin(*OUT)
    confirmed = F.when(F.col("owns") & ~ends, F.col("ts_ns"))
    until = F.coalesce("next_ns", "seen_ns")
    steps = (
        exchanges.where(F.col("api").isin(*APIS))
        .where("`group` is not null and member is not null")
        .repartition("capture", "group")  # so that no window below needs a shuffle
        .withColumn("protocol", F.col("api"))
        .withColumn("requested", F.col("generation"))
        .withColumn(
            "generation", F.coalesce(body_field("response.member_epoch", "int"), "generation")
        )
        .withColumn("assigned", _is_present("response.assignment.topic_partitions"))
        .withColumn("owns", _is_present("request.topic_partitions"))
        .withColumn("stop_ns", F.coalesce(answered_ns(), F.col("ts_ns")))
        .withColumn("seen_ns", F.max("stop_ns").over(member))
        .withColumn("step", F.when(ends, "ended").when(F.col("assigned") & fine, "assigned"))
        .withColumn("joins", F.coalesce(joins, F.lit(False)))
        .withColumn("confirmed_ns", F.min(confirmed).over(following))
        .where("step is not null or joins")
    )
    begins = F.when(F.col("joins"), F.col("ts_ns"))
    timed = (
        steps.withColumn(
            "next_ns",
            F.lead(
                F.when(F.col("step") == "ended", F.col("ts_ns")).otherwise(F.col("stop_ns"))
            ).over(in_order),
        )
        # an assignment is never confirmed if another one follows immediately
        .withColumn("known_ns", F.coalesce(F.least("confirmed_ns", "next_ns"), F.col("stop_ns")))
        .withColumn("joined_ns", F.coalesce(begins, F.col("stop_ns")))
        .withColumn("join_end_ns", F.when(F.col("joins"), F.col("stop_ns")))
        .withColumn("sync_ns", F.when(F.col("step") == "assigned", F.col("stop_ns")))
        .withColumn("sync_end_ns", F.when(F.col("step") == "assigned", F.col("known_ns")))
        .withColumn("first_joined_ns", F.min("joined_ns").over(epoch))
        .withColumn("all_known_ns", F.max("sync_end_ns").over(epoch))
    )
    none = F.array().cast("array<struct<phase:string,start_ns:bigint,stop_ns:bigint>>")
    confirmed_at, stop = F.col("known_ns"), F.col("stop_ns")
    phases = F.concat(
        F.when(F.col("joins"), F.array(phase("join", F.col("ts_ns"), stop))).otherwise(none),
        F.when(
            F.col("step") == "assigned",
            F.array(phase("sync", stop, confirmed_at), phase("consuming", confirmed_at, until)),
        )
        .when(
            F.col("step") == "ended",
            F.array(phase("stopped", F.col("ts_ns"), F.coalesce("next_ns", "stop_ns"))),
        )
        .otherwise(none),
    )
    reason = (
        F.when((F.col("step") == "ended") & F.col("error").isin(*OUT), F.col("error"))
        .when(F.col("step") == "ended", "left")
        .when(F.col("joins"), "new member")
        .otherwise("new assignment")
    )
    columns = (
        *("capture", "group", "generation", "member", "client_id", "protocol", "reason"),
        *("joined_ns", "join_end_ns", "sync_ns", "sync_end_ns", "first_joined_ns", "all_known_ns"),
    )
    return (
        timed.withColumn("reason", reason)
        .select(*columns, F.explode(phases).alias("item"))
        .select(*columns, "item.*")
    )
