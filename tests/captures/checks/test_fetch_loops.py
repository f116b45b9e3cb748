"""Fetch requests repeated without backoff that fail with the same error."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from barnabas.captures.kafka.exchange import Exchange
from tests.captures.checks.given import exchange, found, frames, whats

OUT_OF_RANGE = 1
NOT_LEADER = 6


def fetch(at: float, error: int, *, whole: int = 0, replica: int = -1, **more: Any) -> Exchange:
    asked = {"partition": 0, "fetch_offset": 7, "partition_max_bytes": 99}
    answer = {
        "partition_index": 0,
        "error_code": error,
        "high_watermark": 9,
        "aborted_transactions": [],
        "records": b"",
    }
    common = {
        "replica_id": replica,
        "max_wait_ms": 500,
        "min_bytes": 1,
        "isolation_level": 0,
        "session_id": 0,
    }
    return exchange(
        "Fetch",
        11,
        {
            **common,
            "topics": [{"topic": "orders", "partitions": [asked]}],
            "forgotten_topics_data": [],
            "rack_id": "",
        },
        {
            "throttle_time_ms": 0,
            "error_code": whole,
            "session_id": 0,
            "responses": [] if whole else [{"topic": "orders", "partitions": [answer]}],
        },
        at=at,
        **more,
    )


def test_ten_times_the_same_error() -> None:
    findings = found("fetch_loops", *(fetch(1 + 2 * n, OUT_OF_RANGE) for n in range(30)))
    assert whats(findings) == [
        ("warning", "Fetch of orders[0] failed 10 times in a row with OFFSET_OUT_OF_RANGE")
    ]
    assert frames(findings) == [[(11, 12), (191, 192)]]
    assert "auto.offset.reset" in findings[0].advice


def test_a_follower_is_no_consumer() -> None:
    fetches = [fetch(1 + 2 * n, OUT_OF_RANGE, replica=2) for n in range(30)]
    assert found("fetch_loops", *fetches) == []


def test_nine_times_are_none() -> None:
    assert found("fetch_loops", *(fetch(1 + 2 * n, OUT_OF_RANGE) for n in range(9))) == []


def test_an_error_of_the_whole() -> None:
    (finding,) = found("fetch_loops", *(fetch(1 + 2 * n, 0, whole=70) for n in range(10)))
    assert (
        finding.what
        == "Fetch of all partitions failed 10 times in a row with FETCH_SESSION_ID_NOT_FOUND"
    )


def test_success_another_error_or_a_pause_begins_anew() -> None:
    def loop(at: float, error: int = OUT_OF_RANGE) -> list[Exchange]:
        return [fetch(at + 2 * n, error) for n in range(9)]

    assert found("fetch_loops", *loop(1), fetch(20, 0), *loop(22)) == []
    assert found("fetch_loops", *loop(1), *loop(20, NOT_LEADER)) == []
    assert found("fetch_loops", *loop(1), *loop(120)) == []
    assert len(found("fetch_loops", *loop(1), *loop(20))) == 1


def test_each_fetch_behind_a_pause_is_no_loop() -> None:
    assert found("fetch_loops", *(fetch(1 + 101 * n, OUT_OF_RANGE) for n in range(30))) == []
    slow = [fetch(1 + 101 * n, OUT_OF_RANGE) for n in range(30)]
    assert len(found("fetch_loops", *slow, apart_ms=200.0)) == 1


def test_other_connections_count_for_themselves() -> None:
    fetches = [fetch(1 + 2 * n, OUT_OF_RANGE, connection=n % 2) for n in range(18)]
    assert found("fetch_loops", *fetches) == []


def test_topics_that_have_only_ids_count_for_themselves() -> None:
    """Since v13 (KIP-516)."""

    def by_id(at: float, *topics: int) -> Exchange:
        error = {"partition_index": 0, "error_code": OUT_OF_RANGE, "high_watermark": 9}
        answers = [
            {"topic_id": UUID(int=topic), "partitions": [{**error, "aborted_transactions": []}]}
            for topic in topics
        ]
        return exchange("Fetch", 13, {"topics": []}, {"responses": answers}, at=at)

    assert found("fetch_loops", *(by_id(1 + 2 * n, 1 + n % 2) for n in range(18))) == []
    assert found("fetch_loops", *(by_id(1 + 2 * n, 1, 2) for n in range(9))) == []
    assert len(found("fetch_loops", *(by_id(1 + 2 * n, 1, 2) for n in range(10)))) == 2
