"""`in_flight`: how many requests wait on a connection at a time (pipelining)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from barnabas.captures.kafka.notes import UNANSWERED
from barnabas.pipeline.analyses.buckets import bucketed
from barnabas.pipeline.analyses.expressions import answered_ns, asked
from barnabas.pipeline.rows.columns import Column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COLUMNS: Final = (
    Column("bucket", "timestamp", "when it begins"),
    Column("client_id", "string", "the client, or null"),
    Column("broker", "int", "node id of the broker, or null"),
    Column("connection", "bigint", "number of the connection within its capture"),
    Column("depth_max", "bigint", "the most requests that waited at a time"),
    Column(
        "depth_mean", "double", "how many waited when a request came, itself included; the mean"
    ),
    Column("produce_depth_max", "bigint", "the same of depth_max when a Produce came; or null"),
    Column("capture", "string", "which capture the connection is of"),
)


def in_flight(exchanges: DataFrame) -> DataFrame:
    """How deep do clients pipeline? One at a time halves what a producer could send; several may change
    the order of records if it is not idempotent (max.in.flight.requests.per.connection, KAFKA-5494).

    Requests without a response (acks=0) wait for nothing. One that was never answered waits until its
    connection ends.
    """
    waiting = asked(exchanges).where(F.col("note") != UNANSWERED)
    end = F.coalesce(answered_ns(), F.col("end_ns"))
    steps = F.array(
        F.struct(F.col("ts_ns").alias("at"), F.lit(1).alias("step")),
        F.struct(end.alias("at"), F.lit(-1).alias("step")),
    )
    kept = ("capture", "connection", "client_id", "broker", "api", "ts_ns")
    in_order = Window.partitionBy("capture", "connection").orderBy("at", "step")
    depths = (
        waiting.select(*kept, F.explode(steps).alias("one"))
        .select(*kept, "one.*")
        .where("at is not null")
        .withColumn("depth", F.greatest(F.sum("step").over(in_order), F.lit(1)))
        .where("step = 1")
    )
    produce = F.when(F.col("api") == "Produce", F.col("depth"))
    return (
        bucketed(depths, exchanges)
        .groupBy("bucket", "client_id", "broker", "connection", "capture")
        .agg(
            F.max("depth").alias("depth_max"),
            F.avg("depth").alias("depth_mean"),
            F.max(produce).alias("produce_depth_max"),
        )
        .select(*(column.name for column in COLUMNS))
    )
