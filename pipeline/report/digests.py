"""The results that the report takes of the analyses, whose size is bounded.

Each takes a table and returns one that has at most some thousand rows, or is cut at `MOST` with what
matters most in front.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from barnabas.captures.checks.finding import LISTED
from barnabas.pipeline.analyses.latency import latency
from barnabas.pipeline.report.plotting import MOST as LINES
from barnabas.pipeline.report.registry import SECTIONS
from barnabas.pipeline.report.sections.latency_heatmap import APIS, OTHERS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SEVERITY: Final = "array_position(array('error', 'warning', 'note'), severity)"


class Digest(NamedTuple):
    """A result of the report."""

    name: str
    of: str
    """Folder of the table that it is made of."""
    make: Callable[[DataFrame], DataFrame]
    order: tuple[str, ...] = ()
    """What is in front if not all fits; SQL."""
    lists: bool = False
    """Whether it lists some rows of its table as they are: those that it leaves out count, too."""


def _latency(exchanges: DataFrame) -> DataFrame:
    """The analysis without telling clients and brokers apart: percentiles can't be added up."""
    nobody = {"client_id": F.lit(None).cast("string"), "broker": F.lit(None).cast("int")}
    return latency(exchanges.withColumns(nobody)).drop(*nobody)


def _frequent(table: DataFrame) -> DataFrame:
    """Latencies of the most frequent APIs by name, of all others together."""
    counts = table.groupBy("api").agg(F.sum("count").alias("in_all"))
    often = (
        counts.orderBy(F.desc("in_all"), "api")
        .limit(APIS)
        .select("api", F.lit(True).alias("often"))
    )
    return (
        table.join(F.broadcast(often), "api", "left")
        .withColumn("api", F.when(F.col("often"), F.col("api")).otherwise(OTHERS))
        .groupBy("bucket", "api", "latency_ms")
        .agg(F.sum("count").alias("count"))
    )


def _refusals(table: DataFrame) -> DataFrame:
    """Errors of each client over all time."""
    return table.groupBy("client_id", "api", "error").agg(
        F.sum("count").alias("count"),
        F.min("first_ts").alias("first_ts"),
        F.max("last_ts").alias("last_ts"),
    )


def _over_time(table: DataFrame) -> DataFrame:
    """Errors of all clients together."""
    return table.groupBy("bucket", "error").agg(F.sum("count").alias("count"))


def _deepest(table: DataFrame) -> DataFrame:
    """The clients with most requests under way, all their connections together."""
    named = table.withColumn("client_id", F.coalesce("client_id", F.lit("")))
    ranked = named.groupBy("client_id").agg(F.max("depth_max").alias("most"))
    clients = ranked.orderBy(F.desc("most"), "client_id").limit(LINES).select("client_id")
    return (
        named.join(F.broadcast(clients), "client_id")
        .groupBy("bucket", "client_id")
        .agg(F.max("depth_max").alias("depth_max"), F.max("depth_mean").alias("depth_mean"))
    )


def _deepest_of_all(table: DataFrame) -> DataFrame:
    return table.groupBy("client_id").agg(F.max("depth_max").alias("depth_max"))


def _first(table: DataFrame) -> DataFrame:
    """The findings that are listed."""
    place = F.row_number().over(Window.partitionBy("check").orderBy("ts", "text"))
    return table.withColumn("place", place).where(F.col("place") <= LISTED).drop("place")


def _by_check(table: DataFrame) -> DataFrame:
    """How many findings there are, and the first one's text."""
    return table.groupBy("severity", "check").agg(
        F.count("*").alias("count"), F.min_by("text", F.struct("ts", "text")).alias("first")
    )


def _unread(table: DataFrame) -> DataFrame:
    """How often each thing could not be read, and how many bytes of it."""
    return table.groupBy("kind", "capture", "file", "reason").agg(
        F.count("*").alias("count"), F.sum("bytes").alias("bytes")
    )


def _all(table: DataFrame) -> DataFrame:
    return table


_DIGESTS: Final = (
    Digest("unread", "errors", _unread, ("count desc",)),
    Digest("latency", "exchanges", _latency, ("bucket", "api")),
    Digest("latency_heatmap", "analyses/latency_heatmap", _frequent, ("bucket", "api")),
    Digest("findings", "analyses/findings", _first, (_SEVERITY, "ts"), lists=True),
    Digest("findings_by_check", "analyses/findings", _by_check, (_SEVERITY, "count desc")),
    Digest("errors", "analyses/errors", _refusals, ("count desc",)),
    Digest("errors_over_time", "analyses/errors", _over_time, ("bucket",)),
    Digest("retries", "analyses/retries", _all, ("attempts desc",)),
    Digest("rebalances", "analyses/rebalances", _all, ("start",)),
    Digest("heartbeats", "analyses/heartbeats", _all, ("share desc",)),
    Digest("commits", "analyses/commits", _all, ("gaps + duplicates desc", "refused desc")),
    Digest("in_flight", "analyses/in_flight", _deepest, ("bucket",)),
    Digest("in_flight_clients", "analyses/in_flight", _deepest_of_all, ("depth_max desc",)),
    Digest("partition_order", "analyses/partition_order", _all, ("ts",)),
    Digest("hot_partitions", "analyses/hot_partitions", _all, ("share desc",)),
    Digest("versions", "analyses/versions", _all, ("removed_in is null", "count desc")),
    Digest("rules", "analyses/rules", _all, ("fired desc",)),
)

DIGESTS: Final = (
    *_DIGESTS,
    *(
        Digest(section.name, f"analyses/{section.name}", _all)
        for section in SECTIONS
        if section.name not in {one.name for one in _DIGESTS}
    ),
)
"""What is the result of a section and stands nowhere above is the analysis of its name, as it is."""
