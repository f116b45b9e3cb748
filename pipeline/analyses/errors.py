"""`errors`: errors in responses, by client and API over time."""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from barnabas.pipeline.analyses.buckets import bucketed
from barnabas.pipeline.analyses.expressions import query, with_request, without_negotiation
from barnabas.pipeline.rows.columns import Column
from barnabas.specs.error_codes import ERROR_CODES

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
    refused = without_negotiation(with_request(bucketed(exchanges)))
    codes = refused.withColumn("code", F.explode("error_codes"))
    return query(
        """\
SELECT bucket, client_id, api, error, count(*) AS count, min(ts) AS first_ts, max(ts) AS last_ts
FROM {exchanges} GROUP BY bucket, client_id, api, error""",
        codes.withColumn("error", _error_name(F.col("code"))),
    )


def _error_name(code: Expression) -> Expression:
    """Return the name of an error code."""
    names = F.create_map(
        *(F.lit(part) for error in ERROR_CODES for part in (error.code, error.name))
    )
    return F.coalesce(F.try_element_at(names, code), F.concat(F.lit("ERROR_"), code.cast("string")))
