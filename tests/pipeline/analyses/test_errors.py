"""Errors by client and API, and storms of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.pipeline.analyses.errors import errors
from barnabas.pipeline.analyses.retries import APART_MS, LEAST, retries
from tests.pipeline.analyses.made import commit, greeting, metadata
from tests.pipeline.analyses.tables import rows, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_each_error_counts_once_a_response(spark: SparkSession) -> None:
    several = rows([commit(9, 7, client="two")])[0] | {"error_codes": [27, 999]}
    results = [
        *rows([metadata(1, error=3), metadata(4, error=3), metadata(2), metadata(3, error=None)]),
        several,
    ]
    reported = errors(table(spark, results)).collect()
    assert {(row["client_id"], row["api"], row["error"], row["count"]) for row in reported} == {
        ("app", "Metadata", "UNKNOWN_TOPIC_OR_PARTITION", 2),
        ("two", "OffsetCommit", "REBALANCE_IN_PROGRESS", 1),
        ("two", "OffsetCommit", "ERROR_999", 1),
    }
    (two,) = [row for row in reported if row["count"] == 2]
    assert (two["last_ts"] - two["first_ts"]).total_seconds() == 0.003


def test_to_agree_on_a_version_is_no_error(spark: SparkSession) -> None:
    """As librdkafka does it: with v4 and v3 refused it asks with v0."""
    healthy = [
        greeting(1, 4, refused=True),
        greeting(2, 3, refused=True),
        greeting(3, 0),
        greeting(1, 3, refused=True, connection=2),
        greeting(2, 2, connection=2),
    ]
    gives_up = greeting(1, 4, refused=True, connection=3, client="gives up")
    silent = greeting(2, 3, connection=3, client="gives up")
    silent.response_body = silent.response_size = silent.latency_ms = None
    oldest = [
        greeting(1, 0, refused=True, connection=4, client="oldest"),
        greeting(2, 0, connection=4, client="oldest"),
    ]
    reported = errors(table(spark, rows([*healthy, gives_up, silent, *oldest]))).collect()
    assert {(row["client_id"], row["api"], row["error"], row["count"]) for row in reported} == {
        ("gives up", "ApiVersions", "UNSUPPORTED_VERSION", 1),
        ("oldest", "ApiVersions", "UNSUPPORTED_VERSION", 1),
    }


def test_many_close_together_are_a_storm(spark: SparkSession) -> None:
    storm = [metadata(n * 100, error=3, took=20, client="one") for n in range(LEAST)]
    later = APART_MS + 100 * LEAST
    again = [metadata(later + n * 100, error=3, client="one") for n in range(LEAST + 1)]
    few = [metadata(n * 100, error=3, client="two") for n in range(LEAST - 1)]
    slow = [metadata(n * 2 * APART_MS, error=3, client="three") for n in range(LEAST)]
    fine = [metadata(n, client="four") for n in range(LEAST)]
    other = [metadata(n * 100 + 50, error=5, client="one") for n in range(LEAST - 1)]
    result = retries(table(spark, rows([*storm, *again, *few, *slow, *fine, *other]))).collect()
    names = ("client_id", "api", "error", "attempts", "rate", "shortest_pause_ms")
    reported = {tuple(row[name] for name in names) for row in result}
    assert reported == {
        ("one", "Metadata", "UNKNOWN_TOPIC_OR_PARTITION", LEAST, 10.0, 80.0),
        ("one", "Metadata", "UNKNOWN_TOPIC_OR_PARTITION", LEAST + 1, 10.0, 99.0),
    }


def test_to_agree_on_a_version_on_each_connection_is_none(spark: SparkSession) -> None:
    """A client that is refused again and again is one."""
    healthy = [
        one
        for number in range(2 * LEAST)
        for one in (
            greeting(number, 4, refused=True, connection=number, host="10.0.0.1"),
            greeting(number + 0.5, 3, connection=number, host="10.0.0.1"),
        )
    ]
    refused = [
        greeting(100 * number, 4, refused=True, connection=50 + number, host="b", client="no")
        for number in range(LEAST)
    ]
    result = retries(table(spark, rows([*healthy, *refused]))).collect()
    assert {(row["client_id"], row["api"], row["attempts"]) for row in result} == {
        ("no", "ApiVersions", LEAST)
    }
