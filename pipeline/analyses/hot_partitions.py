"""`hot_partitions`: the distribution of records and bytes over partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from barnabas.pipeline.analyses.expressions import total
from barnabas.pipeline.rows.columns import Column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FETCHES: Final = ("Fetch", "ShareFetch")

COLUMNS: Final = (
    Column("topic", "string", "name of the topic, or its id"),
    Column("partition", "int", "index of the partition"),
    Column("produced_records", "bigint", "records that brokers accepted, or that were sent with acks=0"),
    Column("produced_bytes", "bigint", "their bytes, compressed as on the wire"),
    Column("produced_requests", "bigint", "Produce requests with records"),
    Column("fetched_records", "bigint", "records that clients fetched"),
    Column("fetched_bytes", "bigint", "their bytes"),
    Column("fetched_requests", "bigint", "Fetch and ShareFetch responses with records"),
    Column("share", "double", "share of all bytes, produced and fetched: 0 to 1"),
)  # fmt: skip


def hot_partitions(exchanges: DataFrame) -> DataFrame:
    """Measure the load of each partition.

    A few partitions far above the others indicate a bad key, or too few partitions.

    Fetches of replicas do not count. Records of compressed messages of magic 0 and 1 are not counted.
    """
    passed = (
        exchanges.where(F.col("api").isin("Produce", *FETCHES))
        .where((F.col("api") != "Fetch") | F.col("seen.places").isNotNull())
        .select("api", F.explode("partitions").alias("item"))
        .select("api", "item.*")
        .where("coalesce(error_code, 0) = 0 and bytes > 0")
    )
    produced = F.col("api") == "Produce"
    fetched = F.col("api").isin(*FETCHES)

    by_partition = passed.groupBy("topic", "partition").agg(
        total(F.when(produced, F.col("records"))).alias("produced_records"),
        total(F.when(produced, F.col("bytes"))).alias("produced_bytes"),
        F.count(F.when(produced, 1)).alias("produced_requests"),
        total(F.when(fetched, F.col("records"))).alias("fetched_records"),
        total(F.when(fetched, F.col("bytes"))).alias("fetched_bytes"),
        F.count(F.when(fetched, 1)).alias("fetched_requests"),
    )
    whole = passed.agg(F.sum("bytes").alias("whole"))
    share = (F.col("produced_bytes") + F.col("fetched_bytes")) / F.col("whole")
    return (
        by_partition.crossJoin(F.broadcast(whole))
        .withColumn("share", share)
        .select(*(column.name for column in COLUMNS))
    )
