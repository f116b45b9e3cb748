"""`commits`: a group's commits compared with its fetches; records consumed twice or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from barnabas.captures.checks.commits import FENCES
from barnabas.pipeline.analyses.expressions import error_text, host, total
from barnabas.pipeline.rows.columns import Column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COMMITS: Final = ("OffsetCommit", "TxnOffsetCommit")

COLUMNS: Final = (
    Column("group", "string", "the group"),
    Column("topic", "string", "name of the topic, or its id"),
    Column("partition", "int", "index of the partition"),
    Column("client_id", "string", "client id that fetched or committed, or null"),
    Column("committed", "bigint", "last accepted commit: the next offset to consume; or null"),
    Column("fetched_to", "bigint", "offset after the last record that it fetched, or null"),
    Column("lag", "bigint", "offsets fetched but not committed at the end; or null"),
    Column("duplicates", "bigint", "offsets fetched again that the group had fetched before"),
    Column("gaps", "bigint", "offsets skipped when it began or continued to fetch"),
    Column("commits", "bigint", "accepted commits"),
    Column("refused", "bigint", "rejected commits, without `fenced`"),
    Column(
        "fenced",
        "bigint",
        "transactional commits of a former member that were rejected, as designed (KIP-447)",
    ),
    Column("rewinds", "bigint", "commits of an offset lower than the group's last commit"),
    Column("host", "string", "the client's address"),
    Column("capture", "string", "name of the capture"),
)


def commits(exchanges: DataFrame) -> DataFrame:
    """Find records that a group consumed twice, or skipped.

    After a rebalance or a restart, a partition continues at the committed offset. Records fetched after that
    offset come again, unless the consumer committed them before it gave up the partition. Records before it
    that were not fetched are lost to the group.

    Fetch names no group: a client's fetches belong to the groups that it commits for, fetches offsets of, or
    is a member of, from the same address and with the same client id. Offsets are counted, not records:
    transaction markers and compacted records have offsets, too.
    """
    narrow = exchanges.withColumn("host", host()).select(
        *("capture", "host", "client_id", "connection", "ts_ns", "ordinal", "api", "group"),
        *("partitions", "latency_ms", "note"),
    )
    clients = ("capture", "host", "client_id")
    groups = (
        narrow.where("`group` is not null")
        .where(F.col("api").isin(*COMMITS, "OffsetFetch", "JoinGroup", "ConsumerGroupHeartbeat"))
        .select(*clients, "group")
        .distinct()
    )
    same = [F.col(f"of.{name}").eqNullSafe(F.col(f"fetch.{name}")) for name in clients]
    fetches = (
        _listed(narrow.where("api = 'Fetch'").drop("group"))
        .alias("fetch")
        .join(groups.alias("of"), same)
        .select("fetch.*", "of.group")
    )
    offsets = _listed(narrow.where(F.col("api").isin(*COMMITS, "OffsetFetch")))
    return _summed(_compared(fetches.unionByName(offsets.where("`group` is not null"))))


def _listed(exchanges: DataFrame) -> DataFrame:
    """Return one row for each partition; a fetch session omits the offset of an unchanged partition."""
    session = Window.partitionBy("capture", "connection", "topic", "partition").orderBy(
        "ts_ns", "ordinal"
    )
    item = F.col("item")
    position = F.last("requested", ignorenulls=True).over(session)
    return (
        exchanges.withColumn("item", F.explode("partitions"))
        .drop("partitions")
        .select(
            "*",
            *(item[name].alias(name) for name in ("topic", "partition", "error_code", "records")),
            item["offset"].alias("requested"),
            item["last_offset"].alias("last_offset"),
        )
        .drop("item")
        .withColumn(
            "offset", F.when(F.col("api") == "Fetch", position).otherwise(F.col("requested"))
        )
    )


def _compared(rows: DataFrame) -> DataFrame:
    """Return each fetch with the earlier fetches and commits of its group."""
    in_order = Window.partitionBy("capture", "group", "topic", "partition").orderBy(
        "ts_ns", "connection", "ordinal"
    )
    before = in_order.rowsBetween(Window.unboundedPreceding, -1)
    fetched = (F.col("api") == "Fetch") & (F.col("records") > 0)
    taken = F.col("api").isin(*COMMITS) & (F.coalesce("error_code", F.lit(-1)) == 0)
    stored = (F.col("api") == "OffsetFetch") & (F.col("offset") >= 0)
    next_offset = F.when(fetched, F.col("last_offset") + 1)
    error = F.coalesce("error_code", F.lit(0))
    fenced = (F.col("api") == "TxnOffsetCommit") & error_text(error).isin(*sorted(FENCES))
    owed = F.coalesce(F.col("up_to"), F.col("stored_before"))
    return (
        rows.withColumn("next", next_offset)
        .withColumn("taken", F.when(taken, F.col("offset")))
        .withColumn("up_to", F.max("next").over(before))
        .withColumn(
            "stored_before",
            F.last(F.when(taken | stored, F.col("offset")), ignorenulls=True).over(before),
        )
        .withColumn("taken_before", F.max("taken").over(before))
        .withColumn(
            "again",
            F.when(
                fetched & F.col("up_to").isNotNull(),
                F.greatest(F.least("up_to", "next") - F.col("offset"), F.lit(0)),
            ),
        )
        .withColumn("passed_over", F.when(fetched, F.greatest(F.col("offset") - owed, F.lit(0))))
        .withColumn("rewind", F.col("taken") < F.col("taken_before"))
        .withColumn("fence", fenced)
        .withColumn("refusal", F.col("api").isin(*COMMITS) & (error != 0) & ~fenced)
    )


def _summed(rows: DataFrame) -> DataFrame:
    return (
        rows.groupBy("capture", "group", "topic", "partition", "host", "client_id")
        .agg(
            F.max_by("taken", F.when(F.col("taken").isNotNull(), F.col("ts_ns"))).alias(
                "committed"
            ),
            F.max("next").alias("fetched_to"),
            total(F.col("again")).alias("duplicates"),
            total(F.col("passed_over")).alias("gaps"),
            F.count("taken").alias("commits"),
            F.count(F.when(F.col("refusal"), 1)).alias("refused"),
            F.count(F.when(F.col("fence"), 1)).alias("fenced"),
            F.count(F.when(F.col("rewind"), 1)).alias("rewinds"),
        )
        .withColumn(
            "lag",
            F.when(
                F.col("committed").isNotNull() & F.col("fetched_to").isNotNull(),
                F.greatest(F.col("fetched_to") - F.col("committed"), F.lit(0)),
            ),
        )
        .where("committed is not null or fetched_to is not null or refused + fenced > 0")
        .select(*(column.name for column in COLUMNS))
    )
