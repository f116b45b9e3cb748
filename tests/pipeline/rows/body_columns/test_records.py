"""Columns of Produce, Fetch and ShareFetch, by name and by id."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.records import Record, build
from tests.captures.kafka.context.exchanges import CLICKS, ORDERS, metadata
from tests.pipeline.given import hot, said


def records(*values: bytes, **of: Any) -> bytes:
    return build(
        [Record(n, 1_700_000_000_000, None, value) for n, value in enumerate(values)], **of
    )


PRODUCER = {"producer_id": 7, "producer_epoch": 3, "base_sequence": 40}


def produce(version: int, *, response: bool = True, acks: int = -1) -> Exchange:
    def topic(**more: Any) -> dict[str, Any]:
        return ({"name": "orders"} if version < 13 else {"topic_id": ORDERS}) | more

    sent = [
        {"index": 1, "records": records(b"a", b"b", **PRODUCER)},
        {"index": 0, "records": records(b"c", producer_id=7, producer_epoch=3, base_sequence=9)},
        {"index": 2, "records": None},
    ]
    came = [
        {"index": 1, "error_code": 0, "base_offset": 100},
        {"index": 0, "error_code": 6, "base_offset": -1},
    ]
    requested = {"acks": acks, "timeout_ms": 1, "topic_data": [topic(partition_data=sent)]}
    answer = {"responses": [topic(partition_responses=came)]}
    return said("Produce", version, requested, answer if response else None)


def known() -> Context:
    context = Context()
    context.learn(metadata(orders=ORDERS, clicks=CLICKS))
    return context


@pytest.mark.parametrize("version", [3, 8, 9, 12, 13])
def test_produce(version: int) -> None:
    result = hot(produce(version), known())
    partitions = result.pop("partitions")
    assert result == {
        "error": "NOT_LEADER_OR_FOLLOWER",
        "error_codes": [6],
        "topics": ["orders"],
        "producer_id": 7,
        "producer_epoch": 3,
        "base_sequence": 9,
        "acks": -1,
        "records": 3,
    }
    size = len(records(b"a", b"b"))
    assert partitions[0] == {
        "topic": "orders",
        "partition": 1,
        "error_code": 0,
        "offset": 100,
        "last_offset": 101,
        "high_watermark": None,
        "records": 2,
        "bytes": size,
        "producer_id": 7,
        "producer_epoch": 3,
        "base_sequence": 40,
        "checksum": int.from_bytes(records(b"a", b"b", **PRODUCER)[17:21]),
    }
    names = ("partition", "error_code", "offset", "last_offset", "records", "base_sequence")
    assert [tuple(one[name] for name in names) for one in partitions[1:]] == [
        (0, 6, None, None, 1, 9),
        (2, None, None, None, 0, None),
    ]


def test_produce_of_a_topic_that_nobody_knows() -> None:
    result = hot(produce(13))
    assert result["topics"] == [result["partitions"][0]["topic"]]
    assert len(result["topics"][0]) == 22


def test_produce_without_a_response() -> None:
    result = hot(produce(9, response=False, acks=0))
    assert (result["records"], result.get("acks")) == (3, None)  # 0 says nothing here
    assert [one["error_code"] for one in result["partitions"]] == [None, None, None]


def test_a_transaction() -> None:
    requested = {"transactional_id": "payments", "acks": -1, "timeout_ms": 1, "topic_data": []}
    assert hot(said("Produce", 9, requested))["transactional_id"] == "payments"


def test_compressed_messages_of_old_do_not_say_how_many_they_are() -> None:
    old = build([Record(0, 1, None, b"a")], magic=1, compression="gzip")
    topic = {"name": "orders", "partition_data": [{"index": 0, "records": old}]}
    result = hot(said("Produce", 2, {"acks": 1, "timeout_ms": 1, "topic_data": [topic]}))
    assert "records" not in result
    assert (result["partitions"][0]["records"], result["partitions"][0]["bytes"]) == (
        None,
        len(old),
    )


def fetch(
    version: int, epoch: int, asked: dict[int, int], came: dict[int, bytes | None], **more: Any
) -> Exchange:
    topic: dict[str, Any] = {"topic": "orders"} if version < 13 else {"topic_id": ORDERS}
    session = {"session_id": 0 if epoch == 0 else 5, "session_epoch": epoch}
    partitions = [{"partition": n, "fetch_offset": offset} for n, offset in asked.items()]
    request = {"topics": [topic | {"partitions": partitions}] if asked else [], **more}
    answers = [
        {"partition_index": n, "error_code": 0, "high_watermark": 50, "records": data}
        for n, data in came.items()
    ]
    response: dict[str, Any] = {"responses": [topic | {"partitions": answers}] if came else []}
    if version >= 7:
        request |= session
        response["session_id"] = 5
    return said("Fetch", version, request, response)


@pytest.mark.parametrize("version", [0, 4, 7, 12, 13, 18])
def test_fetch(version: int) -> None:
    data = records(b"a", b"b", b"c")
    result = hot(fetch(version, 0, {3: 40, 1: 7}, {1: data, 3: None}), known())
    assert (result["topics"], result["records"]) == (["orders"], 3)
    names = ("partition", "offset", "last_offset", "high_watermark", "records", "bytes")
    assert [tuple(one[name] for name in names) for one in result["partitions"]] == [
        (3, 40, None, 50, 0, 0),
        (1, 7, 2, 50, 3, len(data)),
    ]


@pytest.mark.parametrize("version", [7, 12, 13, 18])
def test_an_incremental_fetch_is_about_the_topics_of_its_session(version: int) -> None:
    context = known()
    hot(fetch(version, 0, {3: 40, 1: 7}, {}), context)
    empty = hot(fetch(version, 1, {}, {}), context)
    assert empty == {"topics": ["orders"]}
    came = hot(fetch(version, 2, {}, {1: records(b"a")}), context)
    assert came["topics"] == ["orders"]
    (one,) = came["partitions"]
    assert (one["partition"], one["offset"], one["records"]) == (1, None, 1)


def test_a_fetch_cut_within_a_batch_counts_what_is_whole() -> None:
    data = records(b"a", b"b")
    result = hot(fetch(12, 0, {0: 0}, {0: data + data[:70]}))
    assert (result["records"], result["partitions"][0]["bytes"]) == (2, len(data) + 70)


def test_share_fetch() -> None:
    requested: dict[str, Any] = {"group_id": "workers", "member_id": "m", "share_session_epoch": 0}
    requested["topics"] = [{"topic_id": ORDERS, "partitions": [{"partition_index": 2}]}]
    came = {"partition_index": 2, "error_code": 0, "records": records(b"a", b"b")}
    answer = {"responses": [{"topic_id": ORDERS, "partitions": [came]}]}
    result = hot(said("ShareFetch", 1, requested, answer), known())
    (one,) = result.pop("partitions")
    assert (one["topic"], one["partition"], one["records"]) == ("orders", 2, 2)
    assert result == {"topics": ["orders"], "group": "workers", "member": "m", "records": 2}
