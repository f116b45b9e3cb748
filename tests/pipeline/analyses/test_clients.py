"""Who is throttled, who writes and reads, who lags, whose logins fail, and who connects again and again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.notes import INFERRED, NOT_CAPTURED
from barnabas.pipeline.analyses.connections import connections
from barnabas.pipeline.analyses.lag import lag
from barnabas.pipeline.analyses.logins import logins
from barnabas.pipeline.analyses.throttling import throttling
from barnabas.pipeline.analyses.topics import topics
from tests.captures.checks.given import S, exchange, produce
from tests.pipeline.analyses.made import commit, fetch, metadata, numbered
from tests.pipeline.analyses.tables import rows, table

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession


def found(
    spark: SparkSession, analysis: Callable[[DataFrame], DataFrame], *exchanges: Exchange
) -> list[dict[str, Any]]:
    result = analysis(table(spark, rows(numbered(*exchanges))))
    return [row.asDict() for row in result.orderBy(*result.columns).collect()]


def throttled(one: Exchange, ms: int) -> Exchange:
    """The exchange with this throttle time, which is the last field of a Produce response."""
    assert one.response_body is not None
    body = one.response_body[:-5] + ms.to_bytes(4) + b"\0"
    return replace(one, response_body=body, facts=None)


def test_throttle_times_are_summed_by_client_and_quota(spark: SparkSession) -> None:
    create = {"throttle_time_ms": 300, "topics": []}
    asked = {"topics": [], "timeout_ms": 1000, "validate_only": False}
    result = found(
        spark,
        throttling,
        throttled(produce(1, ["a"]), 1500),
        throttled(produce(2, ["b"]), 500),
        produce(3, ["c"]),
        exchange("CreateTopics", 4, asked, create, at=4),
        throttled(produce(5, ["d"], connection=2, client="other"), 1),
    )
    names = ("client_id", "quota", "count", "total_ms", "longest_ms")
    assert [tuple(row[name] for name in names) for row in result] == [
        ("app", "controller mutation", 1, 300, 300),
        ("app", "produce", 2, 2000, 1500),
        ("other", "produce", 1, 1, 1),
    ]
    *_, both, _ = result
    assert (both["end"] - both["start"]).total_seconds() == pytest.approx(0.001)


@pytest.mark.parametrize(
    "body",
    ["0023 00000001 0012 0000 0004", "0023 01 0012 0000 0002 00 00000000"],
    ids=["v0", "mock"],
)
def test_a_refused_version_has_no_throttle_time(body: str, spark: SparkSession) -> None:
    """Read as version 3, its bytes would be a throttle time of 1,179,648 ms."""
    refused = bytes.fromhex(body)
    request = {"client_software_name": "x", "client_software_version": "1"}
    one = exchange("ApiVersions", 3, request, None, at=1)
    answered = replace(one, response_body=refused, response_size=12, latency_ms=1.0, facts=None)
    assert answered.error == "UNSUPPORTED_VERSION"
    assert found(spark, throttling, answered) == []


def test_writers_and_readers_of_a_topic_have_their_shares(spark: SparkSession) -> None:
    result = found(
        spark,
        topics,
        produce(1, ["aaaaaaaaaa"] * 30, client="big"),
        produce(2, ["b"], connection=2, client="small"),
        produce(3, ["c"], connection=2, client="small", error=6),
        fetch(4, 0, 2, connection=3, client="reader"),
        fetch(5, 3, None, connection=3, client="reader"),
        commit(6, 3, connection=3, client="reader"),
        replace(
            fetch(7, 0, None, client="unseen"),
            response_body=None,
            latency_ms=None,
            note=NOT_CAPTURED,
        ),
    )
    names = ("access", "client_id", "records", "groups")
    assert [tuple(row[name] for name in names) for row in result] == [
        ("read", "reader", 3, "g"),
        ("read", "unseen", None, None),
        ("write", "big", 30, None),
        ("write", "small", 1, None),
    ]
    reader, unseen, big, small = result
    assert (unseen["bytes"], unseen["share"]) == (None, None)
    assert reader["share"] == 1
    assert big["share"] + small["share"] == pytest.approx(1)
    assert big["share"] / small["share"] == pytest.approx(big["bytes"] / small["bytes"])


def test_lag_is_the_end_minus_the_committed_offset(spark: SparkSession) -> None:
    """The end is known from any client, also after the last commit."""
    result = found(
        spark,
        lag,
        produce(1 * S, ["a", "b"], offset=0),
        commit(2 * S, 1, connection=2),
        produce(3 * S, ["c"] * 5, offset=2),
        commit(4 * S, 2, connection=2, error=27),
        produce(60 * S, ["d"] * 3, offset=7),
    )
    known = [(row["committed"], row["end_offset"], row["lag"]) for row in result]
    assert known == [(1, 2, 1), (1, 7, 6), (1, 10, 9)]
    assert {row["committed_ts"] for row in result} == {result[0]["committed_ts"]}


def test_refused_logins_are_counted_by_identity(spark: SparkSession) -> None:
    said = (
        "PLAIN alice → authenticated",
        "PLAIN bob → refused: wrong password",
        "PLAIN bob → authenticated",
        "SCRAM-SHA-256 carol → challenge",
    )
    exchanges = [
        replace(metadata(number, connection=number), sasl=sasl)
        for number, sasl in enumerate(said, 1)
    ]
    result = found(spark, logins, *exchanges)
    assert sum(row["count"] for row in result) == 3
    (failed,) = (row for row in result if row["failed"])
    assert (failed["identity"], failed["count"], failed["reason"]) == (
        "PLAIN bob", 1, "refused: wrong password"
    )  # fmt: skip


def test_connections_of_a_client_are_counted_with_their_lengths(spark: SparkSession) -> None:
    exchanges = [
        one
        for number in range(1, 6)
        for one in (
            metadata(number * S, connection=number, host="10.0.0.9", server="10.0.0.1:9092"),
            metadata(number * S + 20, connection=number, host="10.0.0.9", server="10.0.0.1:9092"),
        )
    ]
    unnamed = [
        replace(metadata(S, connection=number, client=None), note=INFERRED)
        for number in range(6, 9)
    ]
    (client,) = found(spark, connections, *exchanges, *unnamed)
    assert (client["count"], client["servers"], client["requests"]) == (5, 1, 2.0)
    assert client["median_ms"] == pytest.approx(21)
