from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from barnabas.proxy.effects import Become
from barnabas.proxy.faults.rewrite import Rewrite, rewrite
from barnabas.proxy.matching.message import Message, Unable
from barnabas.specs import api
from barnabas.specs.records import Record, build, read
from tests.proxy.faults.given import Examples, Row, message, produce, slicings, stage
from tests.proxy.playbook import Chunks

PATH = "topic_data[*].partition_data[*].records"
FIRST = "topic_data[0].partition_data[0].records"
TWO = build([Record(0, 5, b"a", b"b"), Record(1, 6, b"c", b"d", (("h", b"x"),))], producer_id=7)
OTHER = build([Record(2, 7, None, b"e")], compression="lz4")


def produced(*sets: bytes | None) -> Message:
    partitions = [{"index": place, "records": each} for place, each in enumerate(sets)]
    topics = [{"name": "t", "partition_data": partitions}]
    return message("Produce", version=7, acks=1, timeout_ms=10, topic_data=topics)


EXAMPLES = Examples(
    {"path": PATH, "value": "x"},
    rows=[Row("{path: 'PATH', value: x}")],
    subject=produced(TWO),
    about=("Produce", "request"),
)


def done(settings: dict[str, Any], subject: Message) -> list[bytes]:
    """The record sets that come out."""
    (effect,) = rewrite(Rewrite.model_validate(settings), subject, float)
    assert isinstance(effect, Become)
    (topic,) = api("Produce").request.codec(7).decode(effect.body)["topic_data"]
    return [partition["records"] for partition in topic["partition_data"]]


def read_all(data: bytes) -> list[tuple[bytes | None, bytes | None]]:
    batches = list(read(data))
    assert all(batch.crc_ok for batch in batches)
    return [(record.key, record.value) for batch in batches for record in batch]


def test_one_record_is_another_and_all_around_it_stays() -> None:
    (found,) = done({"path": FIRST, "record": 1, "value": "wäre"}, produced(TWO + OTHER))
    assert read_all(found) == [(b"a", b"b"), (b"c", "wäre".encode()), (None, b"e")]
    first, second = read(found)
    assert (first.producer_id, second.compression) == (7, "lz4")
    assert first.records()[1].headers == (("h", b"x"),)
    assert found.endswith(OTHER)


def test_records_are_counted_over_all_batches() -> None:
    (found,) = done({"path": FIRST, "record": 2, "key": "k", "value": None}, produced(TWO + OTHER))
    assert read_all(found)[2] == (b"k", None)
    assert found.startswith(TWO)


def test_all_records_of_several_sets_and_part_of_a_batch_stays() -> None:
    found = done({"path": PATH, "value": "eA==", "base64": True}, produced(TWO, OTHER + TWO[:20]))
    assert [value for data in found for _, value in read_all(data)] == [b"x"] * 3
    assert found[1].endswith(TWO[:20])


def test_without_a_path_all_records_of_the_message_are_meant() -> None:
    found = done({"key": "k"}, produced(TWO, None, OTHER))
    assert [key for data in found for key, _ in read_all(data or b"")] == [b"k"] * 3
    assert Rewrite(key="k").applies_to(1, "response", 11)
    assert not Rewrite(key="k").applies_to(1, "request", 11)


def test_the_checksum_may_be_wrong_on_purpose() -> None:
    (found,) = done({"path": FIRST, "record": 0, "value": "z", "crc": "wrong"}, produced(TWO))
    (batch,) = read(found)
    assert (batch.crc_ok, batch.records()[0].value) == (False, b"z")


def test_markers_stay() -> None:
    marker = build([Record(0, 0, b"\0\0\0\1", b"\0" * 6)], is_control=True)
    (found,) = done({"path": FIRST, "value": "z"}, produced(marker + TWO))
    assert found.startswith(marker)


@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_a_record_gets_another_time_and_other_headers(compression: Any) -> None:
    batch = build([Record(0, 5, b"a", b"b"), Record(1, 6, b"c", b"d")], compression=compression)
    headers = [["h", "x"], ["h", None], ["ü", ""]]
    subject = produced(batch)
    (found,) = done({"path": FIRST, "record": 0, "timestamp": 3, "headers": headers}, subject)
    (one,) = read(found)
    first, second = one
    assert (one.crc_ok, one.base_timestamp, one.max_timestamp) == (True, 5, 6)
    assert (first.timestamp, first.headers) == (3, (("h", b"x"), ("h", None), ("ü", b"")))
    assert (first.key, first.value, second) == (b"a", b"b", Record(1, 6, b"c", b"d"))
    (found,) = done({"path": FIRST, "record": 0, "timestamp": 9}, subject)
    assert next(iter(read(found))).max_timestamp == 9


def test_headers_can_stand_in_base64_and_be_taken_away() -> None:
    (found,) = done({"path": FIRST, "headers": [["h", "/w=="]], "base64": True}, produced(TWO))
    assert [record.headers for record in next(iter(read(found)))] == [(("h", b"\xff"),)] * 2
    (found,) = done({"path": FIRST, "headers": []}, produced(TWO))
    assert [record.headers for record in next(iter(read(found)))] == [()] * 2


@pytest.mark.parametrize("magic", [0, 1])
def test_old_messages_have_no_headers(magic: int) -> None:
    old = build([Record(0, 5 if magic else -1, b"a", b"b")], magic=magic)
    with pytest.raises(Unable):
        done({"path": FIRST, "headers": [["h", "x"]]}, produced(old))


@pytest.mark.parametrize(
    ("batch", "said"),
    [
        (build([Record(0, -1, b"a", b"b")], magic=0), "NoTimestampType"),
        (build([Record(0, 7, b"a", b"b")], timestamp_type="LogAppendTime"), "LogAppendTime"),
    ],
)
def test_a_time_that_is_not_the_producers_can_not_be_another(batch: bytes, said: str) -> None:
    with pytest.raises(Unable, match=said):
        done({"path": FIRST, "timestamp": 3}, produced(batch))


@pytest.mark.parametrize(
    ("settings", "subject"),
    [
        ({"path": FIRST, "record": 2, "value": "x"}, produced(TWO)),
        ({"path": FIRST, "value": "x"}, produced(None)),
        ({"path": "topic_data[1].partition_data[0].records", "value": "x"}, produced(TWO)),
        ({"path": "topic_data[0].name", "value": "x"}, produced(TWO)),
        ({"path": FIRST, "value": "x"}, produced(TWO[:70] + b"\xff" * (len(TWO) - 70))),
        ({"path": FIRST, "value": "x"}, message()),
        ({"value": "x"}, message()),
        ({"value": "x"}, produced(None)),
    ],
)
def test_where_there_is_no_such_record_it_can_not_be_done(
    settings: dict[str, Any], subject: Message
) -> None:
    with pytest.raises(Unable):
        rewrite(Rewrite.model_validate(settings), subject, float)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({}, "give key, value, timestamp or headers"),
        ({"key": "é", "base64": True}, "not in base64"),
        ({"headers": [["h", "é"]], "base64": True}, "not in base64"),
        ({"headers": [["h"]]}, "headers"),
        ({"timestamp": 1 << 63}, "timestamp"),
    ],
)
def test_what_it_needs(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        Rewrite.model_validate({"path": FIRST, **settings})


@slicings
def test_the_broker_gets_it(chunks: Chunks) -> None:
    actor = stage(f"{{rewrite: {{path: '{FIRST}', value: other}}}}", "{api: Produce}")
    actor.ask(produce(1, 1, TWO), chunks)
    (frame,) = actor.frames("request")
    assert frame.count(b"other") == 2
    assert frame[8:12] == (1).to_bytes(4)
