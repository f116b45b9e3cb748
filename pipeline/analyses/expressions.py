"""Expressions that several analyses share. Times inside are ns since the epoch, durations ms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from barnabas.captures.kafka.exchange import STRAY
from barnabas.captures.kafka.notes import INFERRED
from barnabas.specs.error_codes import ERROR_CODES

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

NS: Final = 1_000_000
"""Nanoseconds in a millisecond."""

HOST: Final = "regexp_replace(client_address, ':[0-9]+$', '')"
"""SQL: the client's address without its port."""

CLIENT: Final = "coalesce(nullif(client_id, ''), client_address)"
"""SQL: `Exchange.client`."""

CLIENT_KEY: Final = f"concat_ws('/', {HOST}, client_id)"
"""SQL: `barnabas.captures.checks.finding.client_key`."""


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
    following = (
        Window.partitionBy("capture", "connection")
        .orderBy("ts_ns", "ordinal")
        .rowsBetween(1, Window.unboundedFollowing)
    )
    # Sail has no bool_or over a window that slides
    agreed = F.coalesce(
        F.max((F.col("error") == "").cast("int")).over(following) == 1, F.lit(False)
    )
    negotiates = (F.col("error") == "UNSUPPORTED_VERSION") & (F.col("version") > 0) & agreed
    greetings = exchanges.where("api = 'ApiVersions'").withColumn("negotiates", negotiates)
    others = exchanges.where("api <> 'ApiVersions'")
    return others.unionByName(greetings.where("negotiates is not true").drop("negotiates"))


def host() -> Column:
    """Return the client's address without its port."""
    return F.expr(HOST)


def answered_ns() -> Column:
    """Return the time of the response; null without one."""
    return F.col("ts_ns") + F.round(F.col("latency_ms") * NS).cast("bigint")


def moment(ns: Column) -> Column:
    """Return a time as a timestamp, to the microsecond."""
    return F.timestamp_micros(F.call_function("div", ns, F.lit(1000)))  # a double is too coarse


def ms(ns: Column) -> Column:
    """Return a duration in ms."""
    return ns / F.lit(float(NS))


def body_field(path: str, kind: str) -> Column:
    """Return a field of a body, such as `request.session_timeout_ms`; null if it has none of this type."""
    return F.try_variant_get("body", f"$.{path}", kind)


def percentile(column: str, share: float) -> Column:
    """Return a percentile of a group's values: the nearest rank, which is one of the values."""
    return F.expr(f"percentile_disc({share}) within group (order by {column})")


def error_text(code: Column) -> Column:
    """Return the name of an error code."""
    names = F.create_map(
        *(F.lit(part) for error in ERROR_CODES for part in (error.code, error.name))
    )
    return F.coalesce(F.try_element_at(names, code), F.concat(F.lit("ERROR_"), code.cast("string")))


def total(value: Column) -> Column:
    """Return the sum of a group's values; 0 if there are none."""
    return F.coalesce(F.sum(value), F.lit(0).cast("bigint"))
