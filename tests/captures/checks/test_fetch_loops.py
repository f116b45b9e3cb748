"""Fetch requests repeated that fail with the same error or get no further."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.jsonform import uuid_text
from barnabas.specs.records import Record, build
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


def records(*offsets: int, last: int | None = None) -> bytes:
    """A batch of records at these offsets; last: where it ends, after compaction."""
    return build([Record(offset, 1, None, b"v") for offset in offsets], last_offset=last)


COMPACTED = records(100, 101, last=109)


def asks(
    at: float,
    offset: int | None,
    came: bytes = COMPACTED,
    *,
    version: int = 11,
    error: int = 0,
    **more: Any,
) -> Exchange:
    """A Fetch from an offset, and what came for it; None: its session knows the offset."""
    asked = [{"topic": "orders", "partitions": [{"partition": 0, "fetch_offset": offset}]}]
    answer = {"partition_index": 0, "error_code": error, "high_watermark": 900, "records": came}
    return exchange(
        "Fetch",
        version,
        {"topics": asked if offset is not None else []},
        {"responses": [{"topic": "orders", "partitions": [answer]}]},
        at=at,
        **more,
    )


def test_a_consumer_that_goes_on_behind_the_last_record() -> None:
    (finding,) = found("fetch_loops", *(asks(1 + 2 * n, 105) for n in range(60)))
    assert (finding.severity, finding.what) == (
        "warning",
        "Fetch of orders[0] asked for offset 105 20 times in a row, though a batch up to offset 109 came",
    )
    assert finding.advice.startswith("Go on at offset 110, which is the batch's base offset +")
    assert frames([finding]) == [[(11, 12), (391, 392)]]


def test_batches_without_records_have_offsets_as_well() -> None:
    empty = build([], base_offset=100, last_offset=109, base_timestamp=1, max_timestamp=1)
    (finding,) = found("fetch_loops", *(asks(1 + 2 * n, 105, empty) for n in range(20)))
    assert "up to offset 109" in finding.what


def test_a_limit_that_is_less_than_a_batch() -> None:
    (finding,) = found(
        "fetch_loops", *(asks(1 + 2 * n, 5, COMPACTED[:20], version=0) for n in range(20))
    )
    assert finding.what.endswith("20 times in a row, though part of a batch came each time")
    assert "max.partition.fetch.bytes" in finding.advice


def test_a_broker_that_sends_what_stands_before() -> None:
    (finding,) = found("fetch_loops", *(asks(1 + 2 * n, 500) for n in range(20)))
    assert "what stands before the offset" in finding.advice


def test_in_a_session_the_offset_is_named_once() -> None:
    later = (asks(1 + 2 * n, None) for n in range(1, 20))
    assert len(found("fetch_loops", asks(1, 105), *later)) == 1
    unknown = (asks(1 + 2 * n, None) for n in range(40))
    assert found("fetch_loops", *unknown) == []


def test_progress_is_no_loop() -> None:
    on = [asks(1 + 2 * n, 100 + n, records(100 + n)) for n in range(60)]
    assert found("fetch_loops", *on) == []
    compacted = [
        asks(1 + 2 * n, 100 + 10 * n, records(100 + 10 * n, last=109 + 10 * n)) for n in range(60)
    ]
    assert found("fetch_loops", *compacted) == []
    again = [asks(1 + 4 * n + 2 * m, 100 + 10 * n) for n in range(30) for m in range(2)]
    assert found("fetch_loops", *again) == []  # each is read twice after a seek


def test_waiting_at_the_end_or_behind_a_transaction_is_no_loop() -> None:
    assert found("fetch_loops", *(asks(1 + 2 * n, 110, b"") for n in range(60))) == []
    now_and_then = [asks(1 + 2 * n, 105, b"" if n % 19 == 18 else COMPACTED) for n in range(60)]
    assert found("fetch_loops", *now_and_then) == []


def test_who_looks_at_the_last_record_now_and_then_is_no_loop() -> None:
    assert found("fetch_loops", *(asks(1 + 1100 * n, 105) for n in range(60))) == []
    assert len(found("fetch_loops", *(asks(1 + 900 * n, 105) for n in range(60)))) == 1


def test_requests_that_were_sent_before_the_answer_are_no_loop() -> None:
    assert found("fetch_loops", *(asks(1 + n, 105, took=100) for n in range(60))) == []


def test_partitions_and_connections_get_on_for_themselves() -> None:
    fetches = [asks(1 + 2 * n, 105, connection=n % 2) for n in range(38)]
    assert found("fetch_loops", *fetches) == []


def test_offsets_that_the_broker_offers_and_refuses() -> None:
    """ListOffsets and OFFSET_OUT_OF_RANGE alternately."""
    offered = {"topics": [{"name": "orders", "partitions": [{"offset": 7}]}]}
    loop = [
        one
        for n in range(10)
        for one in (
            fetch(1 + 4 * n, OUT_OF_RANGE),
            exchange("ListOffsets", 5, {"topics": []}, offered, at=3 + 4 * n),
        )
    ]
    (finding,) = found("fetch_loops", *loop)
    assert "10 times in a row with OFFSET_OUT_OF_RANGE" in finding.what
    assert "ListOffsets" in finding.advice


def share(at: float, *deliveries: int, partition: int = 0) -> Exchange:
    acquired = [
        {"first_offset": 10 * n, "last_offset": 10 * n + 9, "delivery_count": count}
        for n, count in enumerate(deliveries)
    ]
    answer = {"partition_index": partition, "records": b"", "acquired_records": acquired}
    body = {"responses": [{"topic_id": UUID(int=7), "partitions": [answer]}]}
    return exchange("ShareFetch", 1, {"group_id": "g", "member_id": "m"}, body, at=at)


def test_a_share_group_that_acquires_a_record_again_and_again() -> None:
    (finding,) = found("fetch_loops", *(share(1 + 2 * n, 1, n + 1) for n in range(5)))
    assert (
        finding.what
        == f"ShareFetch of {uuid_text(UUID(int=7))}[0] acquired offset 10 for the 5th time"
    )
    assert "group.share.delivery.count.limit" in finding.advice


def test_records_that_are_released_now_and_then() -> None:
    assert found("fetch_loops", share(1), share(3, 1, 1), share(5, 4), share(7, 1)) == []
    assert len(found("fetch_loops", share(1, 5), share(3, 6), share(5, 5, partition=1))) == 2
