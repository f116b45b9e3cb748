"""`in_flight`: the number of requests in flight on a connection (pipelining)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from barnabas.captures.kafka.notes import UNANSWERED
from barnabas.pipeline.analyses.buckets import bucketed
from barnabas.pipeline.analyses.expressions import answered_ns, captured, with_request
from barnabas.pipeline.rows.columns import Column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COLUMNS: Final = (
    Column("bucket", "timestamp", "start of the time bucket"),
    Column("client_id", "string", "the client, or null"),
    Column("broker", "int", "node id of the broker, or null"),
    Column("connection", "bigint", "number of the connection within its capture"),
    Column("depth_max", "bigint", "most requests in flight at once"),
    Column(
        "depth_mean",
        "double",
        "mean number of requests in flight when a request was sent, itself included",
    ),
    Column("produce_depth_max", "bigint", "most requests in flight when a Produce was sent; or null"),
    Column("capture", "string", "name of the capture"),
)  # fmt: skip


def in_flight(exchanges: DataFrame) -> DataFrame:
    """Count the requests that clients have in flight.

    A single request in flight halves a producer's throughput. Several may reorder records if the producer is
    not idempotent (max.in.flight.requests.per.connection, KAFKA-5494).

    Requests without a response (acks=0) do not count. A request that was never answered counts until its
    connection ends.
    """
    waiting = captured(with_request(exchanges)).where(F.col("note") != UNANSWERED)
    end = F.coalesce(answered_ns(), F.col("end_ns"))
    steps = F.array(
        F.struct(F.col("ts_ns").alias("at"), F.lit(1).alias("step")),
        F.struct(end.alias("at"), F.lit(-1).alias("step")),
    )
    columns = ("capture", "connection", "client_id", "broker", "api", "ts_ns")
    in_order = Window.partitionBy("capture", "connection").orderBy("at", "step")
    depths = (
        waiting.select(*columns, F.explode(steps).alias("item"))
        .select(*columns, "item.*")
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
