"""Test for repeated Fetch requests that fail with the same error or get no further."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from barnabas.captures.checks.facts import PLACES, PartitionFacts
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.jsonform import uuid_text
from barnabas.specs.records import Record, build
from tests.captures.checks.given import descriptions, evidence_packets, exchange, findings_of
from tests.captures.checks.groups import commit

OUT_OF_RANGE = 1
NOT_LEADER = 6
NEVER_ANSWERED = -1


def records(*offsets: int, last: int | None = None) -> bytes:
    """Make a batch of records at these offsets; last: its last offset after compaction."""
    return build([Record(offset, 1, None, b"v") for offset in offsets], last_offset=last)


COMPACTED = records(100, 101, last=109)
EMPTY = build([], base_offset=100, last_offset=109, base_timestamp=1, max_timestamp=1)


def asks(
    at: float,
    offset: int | None,
    came: bytes = COMPACTED,
    *,
    version: int = 11,
    error: int = 0,
    whole: int = 0,
    replica: int = -1,
    **more: Any,
) -> Exchange:
    """Make a Fetch from an offset with the returned records; offset None: its session has the offset.

    error NEVER_ANSWERED: the response lacks the partition. whole: the error of the whole response.
    """
    asked = [{"topic": "orders", "partitions": [{"partition": 0, "fetch_offset": offset}]}]
    answer = {"partition_index": 0, "error_code": error, "high_watermark": 900, "records": came}
    answers = [{"topic": "orders", "partitions": [answer]}]
    request = {"replica_id": replica, "topics": asked if offset is not None else []}
    named = not whole and error != NEVER_ANSWERED
    response: dict[str, Any] = {"responses": answers if named else []}
    if whole:
        response["error_code"] = whole
    return exchange("Fetch", version, request, response, at=at, **more)


def fails(at: float, error: int = OUT_OF_RANGE, **more: Any) -> Exchange:
    return asks(at, 7, b"", error=error, **more)


def loop(at: float, error: int = OUT_OF_RANGE) -> list[Exchange]:
    """Nine, of which ten are too many."""
    return [fails(at + 2 * n, error) for n in range(9)]


def by_id(at: float, *topics: int) -> Exchange:
    """Since v13 (KIP-516) topics have only ids."""
    error = {"partition_index": 0, "error_code": OUT_OF_RANGE, "high_watermark": 9}
    answers = [{"topic_id": UUID(int=topic), "partitions": [error]} for topic in topics]
    return exchange("Fetch", 13, {"topics": []}, {"responses": answers}, at=at)


def offers(at: float) -> Exchange:
    """Make a ListOffsets that returns an offset which brokers then reject."""
    offered = {"topics": [{"name": "orders", "partitions": [{"offset": 7}]}]}
    return exchange("ListOffsets", 5, {"topics": []}, offered, at=at)


def share(at: float, *deliveries: int, partition: int = 0) -> Exchange:
    acquired = [
        {"first_offset": 10 * n, "last_offset": 10 * n + 9, "delivery_count": count}
        for n, count in enumerate(deliveries)
    ]
    answer = {"partition_index": partition, "records": b"", "acquired_records": acquired}
    body = {"responses": [{"topic_id": UUID(int=7), "partitions": [answer]}]}
    return exchange("ShareFetch", 1, {"group_id": "g", "member_id": "m"}, body, at=at)


CASES = {
    "a follower is no consumer": (0, [fails(1 + 2 * n, replica=2) for n in range(30)]),
    "nine times": (0, loop(1)),
    "success in between": (0, [*loop(1), fails(20, 0), *loop(22)]),
    "another error": (0, [*loop(1), *loop(20, NOT_LEADER)]),
    "a pause": (0, [*loop(1), *loop(120)]),
    "no pause": (1, [*loop(1), *loop(20)]),
    "not answered in between": (1, [*loop(1), fails(20, NEVER_ANSWERED), fails(22)]),
    "each behind a pause": (0, [fails(1 + 101 * n) for n in range(30)]),
    "connections": (0, [fails(1 + 2 * n, connection=n % 2) for n in range(18)]),
    "topics with ids by turns": (0, [by_id(1 + 2 * n, 1 + n % 2) for n in range(18)]),
    "nine times two topics with ids": (0, [by_id(1 + 2 * n, 1, 2) for n in range(9)]),
    "two topics with ids": (2, [by_id(1 + 2 * n, 1, 2) for n in range(10)]),
    "a session names the offset once": (1, [asks(1, 105), *(asks(1 + 2 * n, None) for n in range(1, 20))]),
    "an offset that is not known": (0, [asks(1 + 2 * n, None) for n in range(40)]),
    "progress": (0, [asks(1 + 2 * n, 100 + n, records(100 + n)) for n in range(60)]),
    "progress in compacted batches": (
        0, [asks(1 + 2 * n, 100 + 10 * n, records(100 + 10 * n, last=109 + 10 * n)) for n in range(60)],
    ),
    "each is read twice after a seek": (
        0, [asks(1 + 4 * n + 2 * m, 100 + 10 * n) for n in range(30) for m in range(2)]
    ),
    "waiting at the end": (0, [asks(1 + 2 * n, 110, b"") for n in range(60)]),
    "waiting behind a transaction": (
        0, [asks(1 + 2 * n, 105, b"" if n % 19 == 18 else COMPACTED) for n in range(60)]
    ),
    "looks now and then": (0, [asks(1 + 1100 * n, 105) for n in range(60)]),
    "looks more often": (1, [asks(1 + 900 * n, 105) for n in range(60)]),
    "sent before the answer": (0, [asks(1 + n, 105, took=100) for n in range(60)]),
    "stuck on connections by turns": (0, [asks(1 + 2 * n, 105, connection=n % 2) for n in range(38)]),
    "released now and then": (0, [share(1), share(3, 1, 1), share(5, 4), share(7, 1)]),
    "acquired in partitions": (2, [share(1, 5), share(3, 6), share(5, 5, partition=1)]),
}  # fmt: skip


@pytest.mark.parametrize(("findings", "exchanges"), CASES.values(), ids=CASES)
def test_how_often_it_is_found(findings: int, exchanges: list[Exchange]) -> None:
    assert len(findings_of("fetch_loops", *exchanges)) == findings


TEXTS = {
    "ten times the same error": (
        [fails(1 + 2 * n) for n in range(30)],
        "orders[0] failed 10 times in a row with OFFSET_OUT_OF_RANGE",
        "auto.offset.reset",
    ),
    "an error of the whole": (
        [asks(1 + 2 * n, 7, whole=70) for n in range(10)],
        "all partitions failed 10 times in a row with FETCH_SESSION_ID_NOT_FOUND",
        "Start a new fetch session with epoch 0",
    ),
    # ListOffsets and OFFSET_OUT_OF_RANGE alternately
    "offsets that the broker offers and refuses": (
        [one for n in range(10) for one in (fails(1 + 4 * n), offers(3 + 4 * n))],
        "orders[0] failed 10 times in a row with OFFSET_OUT_OF_RANGE",
        "ListOffsets",
    ),
    "going on behind the last record": (
        [asks(1 + 2 * n, 105) for n in range(60)],
        "orders[0] asked for offset 105 20 times in a row, though a batch up to offset 109 came",
        "Continue at offset 110, which is the batch's base offset +",
    ),
    "a batch without records": (
        [asks(1 + 2 * n, 105, EMPTY) for n in range(20)],
        "orders[0] asked for offset 105 20 times in a row, though a batch up to offset 109 came",
        "Continue at offset 110",
    ),
    "a limit that is less than a batch": (
        [asks(1 + 2 * n, 5, COMPACTED[:20], version=0) for n in range(20)],
        "orders[0] asked for offset 5 20 times in a row, though part of a batch came each time",
        "max.partition.fetch.bytes",
    ),
    "a broker that sends what stands before": (
        [asks(1 + 2 * n, 500) for n in range(20)],
        "orders[0] asked for offset 500 20 times in a row, though a batch up to offset 109 came",
        "what stands before the offset",
    ),
}


@pytest.mark.parametrize(("exchanges", "what", "advice"), TEXTS.values(), ids=TEXTS)
def test_what_is_said(exchanges: list[Exchange], what: str, advice: str) -> None:
    (finding,) = findings_of("fetch_loops", *exchanges)
    assert descriptions([finding]) == [("warning", f"Fetch of {what}")]
    assert advice in finding.advice


def test_the_evidence_is_the_first_and_the_last() -> None:
    findings = findings_of("fetch_loops", *(fails(1 + 2 * n) for n in range(30)))
    assert evidence_packets(findings) == [[(11, 12), (191, 192)]]
    stuck = findings_of("fetch_loops", *(asks(1 + 2 * n, 105) for n in range(60)))
    assert evidence_packets(stuck) == [[(11, 12), (391, 392)]]


def test_the_least_pause_can_be_set() -> None:
    assert (
        len(findings_of("fetch_loops", *(fails(1 + 101 * n) for n in range(30)), apart_ms=200.0))
        == 1
    )


def test_a_share_group_that_acquires_a_record_again_and_again() -> None:
    (finding,) = findings_of("fetch_loops", *(share(1 + 2 * n, 1, n + 1) for n in range(5)))
    place = f"{uuid_text(UUID(int=7))}[0]"
    assert finding.what == f"ShareFetch of {place} acquired offset 10 for the 5th time"
    assert "group.share.delivery.count.limit" in finding.advice


def test_what_came_though_nobody_asked_for_it_and_what_is_committed() -> None:
    *_, came = PLACES.of(asks(1, None)) or ()
    assert (came.text, came.asked) == ("orders[0]", False)
    assert PLACES.of(commit(1, error=22)) == (PartitionFacts("orders", 0, True, 22, 7),)
