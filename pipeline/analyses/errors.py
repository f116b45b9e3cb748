"""`errors`: errors in responses, by client and API over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from barnabas.pipeline.analyses.buckets import bucketed
from barnabas.pipeline.analyses.expressions import error_text, with_request, without_negotiation
from barnabas.pipeline.rows.columns import Column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COLUMNS: Final = (
    Column("bucket", "timestamp", "start of the time bucket"),
    Column("client_id", "string", "the client, or null"),
    Column("api", "string", "name of the API"),
    Column("error", "string", "name of the error code"),
    Column("count", "bigint", "responses with this error; a response with several errors counts for each"),
    Column("first_ts", "timestamp", "time of the first such request"),
    Column("last_ts", "timestamp", "time of the last such request"),
)  # fmt: skip


def errors(exchanges: DataFrame) -> DataFrame:
    """Count the errors of each client, API and time bucket.

    Some errors are part of normal operation: those of a client that is new to a group, or whose broker is no
    longer the leader. An ApiVersions request with UNSUPPORTED_VERSION is no error if the client repeats it
    successfully: that is how versions are negotiated.
    """
    refused = without_negotiation(with_request(exchanges)).select(
        "capture", "ts", "ts_ns", "client_id", "api", F.explode("error_codes").alias("code")
    )
    return (
        bucketed(refused.withColumn("error", error_text(F.col("code"))), exchanges)
        .groupBy("bucket", "client_id", "api", "error")
        .agg(
            F.count("*").alias("count"),
            F.min("ts").alias("first_ts"),
            F.max("ts").alias("last_ts"),
        )
    )
