"""`retries`: storms of requests that fail repeatedly with the same error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from barnabas.pipeline.analyses.expressions import (
    answered_ns,
    captured,
    host,
    ms,
    with_request,
    without_negotiation,
)
from barnabas.pipeline.rows.columns import Column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

APART_MS: Final = 1000
"""retry.backoff.max.ms of Java's clients: attempts with a longer pause are no storm."""

LEAST: Final = 5
"""The fewest attempts of a storm."""

COLUMNS: Final = (
    Column("client_id", "string", "the client, or null"),
    Column("api", "string", "name of the API"),
    Column("error", "string", "error of each attempt"),
    Column("start", "timestamp", "time of the first attempt"),
    Column("end", "timestamp", "time of the last response"),
    Column("attempts", "bigint", "number of attempts"),
    Column("rate", "double", "attempts per second; null if all came at once"),
    Column("shortest_pause_ms", "double", "shortest time from a response to the next attempt"),
    Column("host", "string", "the client's address"),
    Column("capture", "string", "name of the capture"),
)


def retries(exchanges: DataFrame) -> DataFrame:
    """Find clients that load brokers with failing requests.

    A client should back off after an error, longer each time (retry.backoff.ms, KIP-580): frequent retries
    may overload a broker in trouble.

    Attempts are a client's failures with one API and error, for any topic or group. Version negotiation does
    not count.
    """
    attempts = Window.partitionBy("capture", "host", "client_id", "api", "error").orderBy(
        "ts_ns", "connection", "ordinal"
    )
    pause = ms(F.col("ts_ns") - F.lag("end_ns").over(attempts))
    begins = F.coalesce(F.col("pause_ms") > APART_MS, F.lit(True)).cast("int")
    return (
        without_negotiation(captured(with_request(exchanges)))
        .where("error <> ''")
        .withColumn("host", host())
        .withColumn("end_ns", F.coalesce(answered_ns(), F.col("ts_ns")))
        .withColumn("pause_ms", pause)
        .withColumn("storm", F.sum(begins).over(attempts))
        .groupBy("capture", "host", "client_id", "api", "error", "storm")
        .agg(
            F.min("ts").alias("start"),
            F.timestamp_micros(F.floor(F.max("end_ns") / 1000).cast("bigint")).alias("end"),
            F.count("*").alias("attempts"),
            ms(F.max("ts_ns") - F.min("ts_ns")).alias("took_ms"),
            F.min(F.when(F.col("pause_ms") <= APART_MS, F.greatest("pause_ms", F.lit(0.0)))).alias(
                "shortest_pause_ms"
            ),
        )
        .where(F.col("attempts") >= LEAST)
        .withColumn("rate", (F.col("attempts") - 1) * 1000 / F.nullif("took_ms", F.lit(0.0)))
        .select(*(column.name for column in COLUMNS))
    )
