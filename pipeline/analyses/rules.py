"""`rules`: the effects of the proxy's fault rules on the exchanges that they fired on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from barnabas.pipeline.analyses.expressions import captured, percentile, with_request
from barnabas.pipeline.rows.columns import Column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COLUMNS: Final = (
    Column("rule", "string", "name of the rule"),
    Column("api", "string", "name of the API"),
    Column("fired", "bigint", "exchanges on which it fired"),
    Column("p50_with_ms", "double", "their median latency"),
    Column("p99_with_ms", "double", "their 99th percentile"),
    Column("p50_without_ms", "double", "the same of the API's exchanges that no rule touched"),
    Column("p99_without_ms", "double", "the same of the API's exchanges that no rule touched"),
    Column("errors_with", "bigint", "their responses with an error"),
    Column("errors_without", "bigint", "the same of the API's exchanges that no rule touched"),
    Column("without", "bigint", "the API's exchanges that no rule touched"),
    Column("unanswered", "bigint", "exchanges on which it fired and that have no response"),
    Column("closed", "bigint", "connections that ended in an exchange on which it fired"),
    Column("capture", "string", "name of the capture"),
)


def rules(exchanges: DataFrame) -> DataFrame:
    """Compare exchanges that a rule fired on with exchanges of the same API and capture without a rule.

    Other rules of the same client may have delayed the latter, too.
    """
    complete = captured(with_request(exchanges))
    p50, p99 = percentile("latency_ms", 0.5), percentile("latency_ms", 0.99)
    failed = F.count(F.when(F.col("error") != "", 1))
    closed = F.when(
        F.col("note").contains("closed"),
        F.struct("capture", "connection"),
    )
    touched = (
        complete.withColumn("rule", F.explode("rules"))
        .groupBy("capture", "rule", "api")
        .agg(
            F.count("*").alias("fired"),
            p50.alias("p50_with_ms"),
            p99.alias("p99_with_ms"),
            failed.alias("errors_with"),
            F.count(F.when(F.col("latency_ms").isNull(), 1)).alias("unanswered"),
            F.count_distinct(closed).alias("closed"),
        )
    )
    others = (
        complete.where(F.size("rules") == 0)
        .groupBy("capture", "api")
        .agg(
            F.count("*").alias("without"),
            p50.alias("p50_without_ms"),
            p99.alias("p99_without_ms"),
            failed.alias("errors_without"),
        )
    )
    none = F.lit(0).cast("bigint")
    return touched.join(others, ["capture", "api"], "left").select(
        *("rule", "api", "fired"),
        *("p50_with_ms", "p99_with_ms", "p50_without_ms", "p99_without_ms", "errors_with"),
        F.coalesce("errors_without", none).alias("errors_without"),
        F.coalesce("without", none).alias("without"),
        *("unanswered", "closed", "capture"),
    )
