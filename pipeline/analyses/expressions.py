"""SQL that several analyses share. Times inside are ns since the epoch, durations ms."""

from __future__ import annotations

from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from barnabas.captures.kafka.exchange import STRAY
from barnabas.captures.kafka.notes import INFERRED

NS: Final = 1_000_000
"""Nanoseconds in a millisecond."""

HOST: Final = "regexp_replace(client_address, ':[0-9]+$', '')"
"""SQL: the client's address without its port."""

ANSWERED_NS: Final = f"ts_ns + cast(round(latency_ms * {NS}) as bigint)"
"""SQL: the time of the response; null without one."""

CLIENT: Final = "coalesce(nullif(client_id, ''), client_address)"
"""SQL: `Exchange.client`."""

CLIENT_KEY: Final = f"concat_ws('/', {HOST}, client_id)"
"""SQL: `barnabas.captures.checks.finding.client_key`."""

OF_MEMBER: Final = "PARTITION BY capture, `group`, member"
"""SQL: the window of a member's exchanges."""

MEMBER_IN_ORDER: Final = f"{OF_MEMBER} ORDER BY ts_ns, ordinal"
"""SQL: the window of a member's exchanges, by time."""


def query(sql: str, exchanges: DataFrame, **tables: Any) -> DataFrame:
    """Run SQL over tables: {exchanges}, with `host` and `answered_ns` added to it, and others by name."""
    added = {"host": F.expr(HOST), "answered_ns": F.expr(ANSWERED_NS)}
    return exchanges.sparkSession.sql(sql, exchanges=exchanges.withColumns(added), **tables)


def with_request(exchanges: DataFrame) -> DataFrame:
    """Return exchanges without responses that belong to no request."""
    return exchanges.where(F.col("key") > STRAY)


def captured(exchanges: DataFrame) -> DataFrame:
    """Return exchanges without responses whose requests were not captured.

    The time, client and version of such requests are unknown.
    """
    return exchanges.where(F.col("note") != INFERRED)


def without_negotiation(exchanges: DataFrame) -> DataFrame:
    """Return exchanges without ApiVersions requests that were too new but were repeated.

    A client that continues with another version on its connection has negotiated it (KIP-511).
    """
    # Sail has no bool_or over a window that slides
    greetings = exchanges.sparkSession.sql(
        """\
SELECT *, error = 'UNSUPPORTED_VERSION' AND version > 0 AND max(cast(error = '' AS int)) OVER (
    PARTITION BY capture, connection ORDER BY ts_ns, ordinal
    ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) = 1 AS negotiates
FROM {exchanges} WHERE api = 'ApiVersions'""",
        exchanges=exchanges,
    )
    others = exchanges.where("api <> 'ApiVersions'")
    return others.unionByName(greetings.where("negotiates is not true").drop("negotiates"))


def moment(ns: str) -> str:
    """Return SQL: a time as a timestamp, to the microsecond."""
    return f"timestamp_micros(({ns}) div 1000)"  # a double is too coarse


def body_field(path: str, kind: str) -> str:
    """Return SQL: a body's field, such as `request.session_timeout_ms`; null if it has none of this type."""
    return f"try_variant_get(body, '$.{path}', '{kind}')"


def percentile(column: str, share: float) -> str:
    """Return SQL: a percentile of a group's values: the nearest rank, which is one of the values."""
    return f"percentile_disc({share}) WITHIN GROUP (ORDER BY {column})"
