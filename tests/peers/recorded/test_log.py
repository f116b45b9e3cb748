from __future__ import annotations

import uuid
from typing import Any

from barnabas.captures.kafka.exchange import Exchange
from barnabas.peers.recorded.log import RecordedLog
from barnabas.specs import api, records
from barnabas.specs.records import Record

ID = uuid.UUID(int=5)


def batch(first: int, count: int, size: int = 10) -> bytes:
    found = [Record(first + n, 1, None, b"v" * size) for n in range(count)]
    return records.build(found, base_offset=first)


def fetched(data: bytes, *, version: int = 11, partition: int = 0, **entry: Any) -> Exchange:
    topic = {"topic": "t"} if version < 13 else {"topic_id": ID}
    one = {"partition_index": partition, "error_code": 0, "high_watermark": 9, "records": data}
    values = {"responses": [{**topic, "partitions": [{**one, **entry}]}]}
    body = api("Fetch").response.codec(version).encode(values)
    return Exchange(0, 1, "", "a", 1, 1, version, 0, 0, response_body=body)


def ask(
    log: RecordedLog,
    offset: int,
    *,
    version: int = 11,
    partition: int = 0,
    limit: int = 2**20,
    **more: Any,
) -> tuple[dict[str, Any], int] | None:
    topic = {"topic": "t"} if version < 13 else {"topic_id": ID}
    one = {"partition": partition, "fetch_offset": offset, "partition_max_bytes": limit}
    values = {"max_wait_ms": 500, "topics": [{**topic, "partitions": [one]}], **more}
    found = log.answer(version, api("Fetch").request.codec(version).encode(values))
    if found is None:
        return None
    body = api("Fetch").response.codec(version).decode(found[0])
    assert body["session_id"] == 0
    return body["responses"][0]["partitions"][0], found[1]


def offsets(entry: dict[str, Any]) -> list[int]:
    return [record.offset for found in records.read(entry["records"]) for record in found]


def test_batches_from_the_offset_on_in_order_and_once() -> None:
    log = RecordedLog(
        [fetched(batch(4, 2)), fetched(batch(0, 4)), fetched(batch(4, 2) + batch(6, 1))]
    )
    for offset, expected in (
        (0, [0, 1, 2, 3, 4, 5, 6]),
        (3, [0, 1, 2, 3, 4, 5, 6]),
        (4, [4, 5, 6]),
    ):
        found = ask(log, offset)
        assert found is not None
        assert (offsets(found[0]), found[1]) == (expected, 0)
        assert found[0]["high_watermark"] == 9


def test_at_the_end_it_waits_as_long_as_it_is_asked_to() -> None:
    found = ask(RecordedLog([fetched(batch(0, 2))]), 2)
    assert found is not None
    assert (offsets(found[0]), found[0]["error_code"], found[1]) == ([], 0, 500)


def test_limits_are_kept_but_one_batch_always_goes() -> None:
    log = RecordedLog([fetched(batch(0, 2, 100) + batch(2, 2, 100))])
    for limits in ({"limit": 1}, {"max_bytes": 1}, {"limit": 400}):
        found = ask(log, 0, **limits)
        assert found is not None
        assert offsets(found[0]) == [0, 1]


def test_topics_are_found_by_id() -> None:
    found = ask(RecordedLog([fetched(batch(0, 2), version=13)]), 0, version=13)
    assert found is not None
    assert offsets(found[0]) == [0, 1]


def test_what_was_never_fetched_is_not_made_up() -> None:
    log = RecordedLog([fetched(batch(0, 2))])
    assert ask(log, 0, partition=1) is None
    assert log.answer(11, b"\xff") is None
    assert log.answer(99, b"") is None


def test_aborted_transactions_are_for_those_who_read_committed() -> None:
    aborted = [{"producer_id": 7, "first_offset": 0}]
    log = RecordedLog([fetched(batch(0, 2), last_stable_offset=2, aborted_transactions=aborted)])
    for isolation, expected in ((0, None), (1, aborted)):
        found = ask(log, 0, isolation_level=isolation)
        assert found is not None
        assert found[0]["aborted_transactions"] == expected
        assert found[0]["last_stable_offset"] == 2


def test_what_is_no_whole_batch_is_left_out() -> None:
    for rest in (batch(2, 1)[:-1], bytes(16) + b"\x09" + bytes(60)):
        found = ask(RecordedLog([fetched(batch(0, 2) + rest)]), 0)
        assert found is not None
        assert found[0]["records"] == batch(0, 2)
