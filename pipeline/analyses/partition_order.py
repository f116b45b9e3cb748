"""`partition_order`: records of a partition in another order than their producer sent them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from barnabas.pipeline.analyses.expressions import answered_ns, host
from barnabas.pipeline.rows.columns import Column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SEQUENCES: Final = 1 << 31
"""Sequence numbers wrap around after 2^31 - 1."""

NEVER: Final = (1 << 63) - 1

COLUMNS: Final = (
    Column("topic", "string", "name of the topic, or its id"),
    Column("partition", "int", "index of the partition"),
    Column("client_id", "string", "the producer's client id, or null"),
    Column("producer_id", "bigint", "its producer id; null if it is not idempotent"),
    Column("kind", "string", "overtaken: sent once; sent again: after a failed attempt; sequence "
                             "left out: numbers are missing"),
    Column("offset", "bigint", "offset of these records"),
    Column("other_offset", "bigint", "offset of the batch before them that was sent later, or "
                                     "that has the preceding sequence number"),
    Column("base_sequence", "int", "sequence number of these records, or null"),
    Column("missing", "bigint", "number of sequence numbers skipped; null: of another kind"),
    Column("ts", "timestamp", "when the successful attempt was sent"),
    Column("connection", "bigint", "connection of that attempt"),
    Column("packet", "bigint", "packet number of that attempt"),
    Column("capture", "string", "name of the capture"),
)  # fmt: skip


def partition_order(exchanges: DataFrame) -> DataFrame:
    """Find records of a partition that are in another order than the producer sent them.

    Pipelining keeps the order as long as nothing fails. A batch that is sent again follows those that were
    sent before its response arrived, unless the producer is idempotent (KIP-98).

    Attempts of a batch have the same checksum. Only batches that were in flight at the same time are
    compared, and none across a gap in the capture.
    """
    return _reordered(_batches(exchanges)).unionByName(_sequence_gaps(_accepted(exchanges)))


def _sent(exchanges: DataFrame) -> DataFrame:
    """Return one row for each partition's batch and attempt."""
    item = F.col("item")
    return (
        exchanges.where("api = 'Produce' and acks <> 0")
        .withColumn("host", host())
        .withColumn("end_ns", F.coalesce(answered_ns(), F.lit(NEVER)))
        .withColumn("item", F.explode("partitions"))
        .select(
            *("capture", "host", "client_id", "connection", "ordinal", "losses", "ts", "ts_ns"),
            *("end_ns", "request_packet"),
            *(item[name].alias(name) for name in ("topic", "partition", "offset", "records")),
            *(
                item[name].alias(name)
                for name in ("producer_id", "producer_epoch", "base_sequence")
            ),
            item["checksum"].alias("checksum"),
            # an attempt without a response counts as failed
            ((item["error_code"] == 0) & F.col("latency_ms").isNotNull()).alias("taken"),
        )
        .where("checksum is not null")
        .repartition("capture", "topic", "partition")  # so that no window below needs a shuffle
        .withColumn("taken", F.coalesce("taken", F.lit(False)))
    )


_PLACE: Final = ("capture", "losses", "host", "client_id", "topic", "partition")


def _batches(exchanges: DataFrame) -> DataFrame:
    """Return one row for each accepted batch, with its first attempt."""
    attempts = Window.partitionBy(*_PLACE, "checksum").orderBy("ts_ns", "ordinal")
    before = attempts.rowsBetween(Window.unboundedPreceding, -1)
    sent = F.struct("ts_ns", "connection", "ordinal", "end_ns")
    chain = F.coalesce(F.sum(F.col("taken").cast("int")).over(before), F.lit(0))
    return (
        _sent(exchanges)
        .withColumn("chain", chain)
        .withColumn("sent", sent)
        .withColumn(
            "first",
            F.min("sent").over(Window.partitionBy(*_PLACE, "checksum", "chain")),
        )
        .where("taken and offset is not null")
    )


def _reordered(batches: DataFrame) -> DataFrame:
    """Return batches with a lower-offset batch that was sent later, before their own response arrived."""
    in_front = (
        Window.partitionBy(*_PLACE).orderBy("offset").rowsBetween(Window.unboundedPreceding, -1)
    )
    latest = F.max(F.struct("first", "offset")).over(in_front)
    overtaken = (
        (F.col("latest.first") > F.col("first"))
        & (F.col("latest.first.connection") == F.col("first.connection"))
        & (F.col("latest.first.ts_ns") < F.col("first.end_ns"))
    )
    once = F.col("first.ts_ns") == F.col("ts_ns")
    return (
        batches.withColumn("latest", latest)
        .where(overtaken)
        .withColumn("kind", F.when(once, "overtaken").otherwise("sent again"))
        .withColumn("other_offset", F.col("latest.offset"))
        .withColumn("missing", F.lit(None).cast("bigint"))
        .withColumnRenamed("request_packet", "packet")
        .select(*(column.name for column in COLUMNS))
    )


def _accepted(exchanges: DataFrame) -> DataFrame:
    """Return idempotent producers' accepted batches."""
    return _sent(exchanges).where("taken and offset is not null and base_sequence is not null")


def _sequence_gaps(batches: DataFrame) -> DataFrame:
    """Return batches whose sequence number does not follow that of the preceding batch."""
    by_offset = Window.partitionBy(
        *("capture", "losses", "producer_id", "producer_epoch", "topic", "partition")
    ).orderBy("offset")
    following = F.lag(F.col("base_sequence") + F.col("records")).over(by_offset)
    ahead = F.pmod(F.col("base_sequence") - F.col("following"), F.lit(SEQUENCES))
    return (
        batches.dropDuplicates(["capture", "producer_id", "topic", "partition", "offset"])
        .withColumn("following", following)
        .withColumn("other_offset", F.lag("offset").over(by_offset))
        .withColumn("missing", ahead)
        .where((F.col("missing") > 0) & (F.col("missing") < SEQUENCES // 2))
        .withColumn("kind", F.lit("sequence left out"))
        .withColumnRenamed("request_packet", "packet")
        .select(*(column.name for column in COLUMNS))
    )
