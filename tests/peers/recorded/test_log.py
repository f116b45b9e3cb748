from __future__ import annotations

import uuid
from typing import Any

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.peers.recorded.log import RecordedLog
from barnabas.specs import api, records
from barnabas.specs.records import Record
from tests.captures.checks.given import exchange

ID = uuid.UUID(int=5)


def batch(first: int, count: int, size: int = 10) -> bytes:
    results = [Record(first + n, 1, None, b"v" * size) for n in range(count)]
    return records.build(results, base_offset=first)


def named(version: int) -> dict[str, Any]:
    return {"topic": "t"} if version < 13 else {"topic_id": ID}


def fetched(data: bytes, *, version: int = 11, **entry: Any) -> Exchange:
    one = {"partition_index": 0, "error_code": 0, "high_watermark": 9, "records": data, **entry}
    values = {"responses": [{**named(version), "partitions": [one]}]}
    return exchange("Fetch", version, None, values, at=0)


def ask(
    log: RecordedLog, offset: int, *, version: int = 11, partition: int = 0, **more: Any
) -> tuple[dict[str, Any], int] | None:
    limit = more.pop("limit", 2**20)
    one = {"partition": partition, "fetch_offset": offset, "partition_max_bytes": limit}
    values = {"max_wait_ms": 500, "topics": [{**named(version), "partitions": [one]}], **more}
    result = log.answer(version, api("Fetch").request.codec(version).encode(values))
    if result is None:
        return None
    body = api("Fetch").response.codec(version).decode(result[0])
    assert body["session_id"] == 0
    return body["responses"][0]["partitions"][0], result[1]


def entry(log: RecordedLog, offset: int, **more: Any) -> dict[str, Any]:
    """What is answered at once for a partition."""
    result = ask(log, offset, **more)
    assert result is not None
    assert result[1] == 0
    return result[0]


def offsets(entry: dict[str, Any]) -> list[int]:
    return [record.offset for found in records.read(entry["records"]) for record in found]


def test_batches_from_the_offset_on_in_order_and_once() -> None:
    several = (batch(4, 2), batch(0, 4), batch(4, 2) + batch(6, 1))
    log = RecordedLog([fetched(one) for one in several])
    for offset, first in ((0, 0), (3, 0), (4, 4)):
        result = entry(log, offset)
        assert (offsets(result), result["high_watermark"]) == ([*range(first, 7)], 9)


def test_at_the_end_it_waits_as_long_as_it_is_asked_to() -> None:
    result = ask(RecordedLog([fetched(batch(0, 2))]), 2)
    assert result is not None
    assert (offsets(result[0]), result[0]["error_code"], result[1]) == ([], 0, 500)


@pytest.mark.parametrize("limits", [{"limit": 1}, {"max_bytes": 1}, {"limit": 400}])
def test_limits_are_kept_but_one_batch_always_goes(limits: dict[str, int]) -> None:
    log = RecordedLog([fetched(batch(0, 2, 100) + batch(2, 2, 100))])
    assert offsets(entry(log, 0, **limits)) == [0, 1]


def test_topics_are_found_by_id() -> None:
    log = RecordedLog([fetched(batch(0, 2), version=13)])
    assert offsets(entry(log, 0, version=13)) == [0, 1]


def test_what_was_never_fetched_is_not_made_up() -> None:
    log = RecordedLog([fetched(batch(0, 2))])
    assert ask(log, 0, partition=1) is None
    assert log.answer(11, b"\xff") is None
    assert log.answer(99, b"") is None


def test_aborted_transactions_are_for_those_who_read_committed() -> None:
    aborted = [{"producer_id": 7, "first_offset": 0}]
    log = RecordedLog([fetched(batch(0, 2), last_stable_offset=2, aborted_transactions=aborted)])
    for isolation, expected in ((0, None), (1, aborted)):
        result = entry(log, 0, isolation_level=isolation)
        assert (result["aborted_transactions"], result["last_stable_offset"]) == (expected, 2)


@pytest.mark.parametrize("rest", [batch(2, 1)[:-1], bytes(16) + b"\x09" + bytes(60)])
def test_what_is_no_whole_batch_is_left_out(rest: bytes) -> None:
    assert entry(RecordedLog([fetched(batch(0, 2) + rest)]), 0)["records"] == batch(0, 2)
