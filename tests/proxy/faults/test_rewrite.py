from __future__ import annotations

import sys
from typing import Any

import pytest

from barnabas.proxy.matching.message import Unable
from barnabas.specs.records import Record, build, read
from tests.proxy.faults.given import Examples, Row, effect_of, fields_after, message, produced

PATH = "topic_data[*].partition_data[*].records"
FIRST = "topic_data[0].partition_data[0].records"
TWO = build([Record(0, 5, b"a", b"b"), Record(1, 6, b"c", b"d", (("h", b"x"),))], producer_id=7)
OTHER = build([Record(2, 7, None, b"e")], compression="lz4")
OLD, OLDER = (build([Record(0, at, b"a", b"b")], magic=magic) for at, magic in ((5, 1), (-1, 0)))
LOGGED = build([Record(0, 7, b"a", b"b")], timestamp_type="LogAppendTime")
VALUE = {"path": FIRST, "value": "x"}
HEADERS = {"path": FIRST, "headers": [["h", "x"]]}
TIME = {"path": FIRST, "timestamp": 3}
ELSEWHERE = "topic_data[1].partition_data[0].records"

EXAMPLES = Examples(
    {"path": PATH, "value": "x"},
    rows=[Row("{path: 'PATH', value: x}")],
    subject=produced(TWO),
    about=("Produce", "request"),
    refused=[
        ({"path": FIRST}, "give key, value, timestamp or headers"),
        ({"path": FIRST, "key": "é", "base64": True}, "key, value and headers: not in base64"),
        ({"headers": [["h", "é"]], "base64": True}, "key, value and headers: not in base64"),
        ({"headers": [["h"]]}, "headers"),
        ({"timestamp": (1 << 63) - 1, "path": "a["}, "'a[' is not a path"),
    ],
    unable=[
        (VALUE | {"record": 2}, produced(TWO), f"{FIRST}: no such record"),
        (VALUE, produced(None), f"{FIRST}: no such record"),
        (VALUE | {"path": ELSEWHERE}, produced(TWO), f"{ELSEWHERE}: no such element"),
        (VALUE | {"path": "topic_data[0].name"}, produced(TWO), "topic_data[0].name: no records"),
        (VALUE | {"path": "nothing"}, produced(TWO), "nothing: no such field"),
        (VALUE, produced(TWO[:70] + b"\xff" * (len(TWO) - 70)), f"{FIRST}: "),
        (VALUE, message(), f"{FIRST}: no such field"),
        ({"value": "x"}, message(), "records: no such record"),
        ({"value": "x"}, message("DescribeTopicPartitions", "response", next_cursor=None), "records: "),
        ({"value": "x"}, produced(None), "records: no such record"),
        (HEADERS, produced(OLD), ""),
        (HEADERS, produced(OLDER), ""),
        (TIME, produced(OLDER), "the time of these records is of NoTimestampType"),
        (TIME, produced(LOGGED), "the time of these records is of LogAppendTime"),
    ],
    says=[({"key": "k"}, "paths", ()), (VALUE, "paths", (FIRST,))],
    applies=[
        ({"key": "k"}, ("Fetch", "response", 11), True),
        ({"key": "k"}, ("Fetch", "request", 11), False),
    ],
)  # fmt: skip


def done(settings: dict[str, Any], *sets: bytes | None) -> list[Any]:
    """Return the record sets after the fault."""
    (topic,) = fields_after("rewrite", settings, produced(*sets))["topic_data"]
    return [partition["records"] for partition in topic["partition_data"]]


def read_all(data: bytes) -> list[Record]:
    batches = list(read(data))
    assert all(batch.crc_ok for batch in batches)
    return [record for batch in batches for record in batch]


def pairs(data: bytes) -> list[tuple[bytes | None, bytes | None]]:
    return [(record.key, record.value) for record in read_all(data)]


def test_one_record_is_another_and_all_around_it_stays() -> None:
    (found,) = done({"path": FIRST, "record": 1, "value": "wäre"}, TWO + OTHER)
    assert pairs(found) == [(b"a", b"b"), (b"c", "wäre".encode()), (None, b"e")]
    first, second = read(found)
    assert (first.producer_id, second.compression) == (7, "lz4")
    assert first.records()[1].headers == (("h", b"x"),)
    assert found.endswith(OTHER)


def test_records_are_counted_over_all_batches() -> None:
    (found,) = done({"path": FIRST, "record": 2, "key": "k", "value": None}, TWO + OTHER)
    assert pairs(found)[2] == (b"k", None)
    assert found.startswith(TWO)


def test_all_records_of_several_sets_and_part_of_a_batch_stays() -> None:
    found = done({"path": PATH, "value": "eA==", "base64": True}, TWO, OTHER + TWO[:20])
    assert [value for data in found for _, value in pairs(data)] == [b"x"] * 3
    assert found[1].endswith(TWO[:20])


def test_without_a_path_all_records_of_the_message_are_meant() -> None:
    found = done({"key": "k"}, TWO, None, OTHER)
    assert [key for data in found for key, _ in pairs(data or b"")] == [b"k"] * 3
    effect = effect_of("rewrite", {"key": "k", "value": "v"}, produced(TWO, None, OTHER))
    assert effect.what == "rewrite key and value of 3 in records"


def test_the_checksum_may_be_wrong_on_purpose() -> None:
    for data in (TWO, OLD, OLDER):
        (found,) = done({"path": FIRST, "record": 0, "value": "z", "crc": "wrong"}, data)
        (batch,) = read(found)
        assert (batch.crc_ok, batch.records()[0].value) == (False, b"z")


def test_markers_stay() -> None:
    marker = build([Record(0, 0, b"\0\0\0\1", b"\0" * 6)], is_control=True)
    (found,) = done({"path": FIRST, "value": "z"}, marker + TWO)
    assert found.startswith(marker)


def test_more_records_than_a_fault_takes_apart_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["barnabas.proxy.faults.rewrite"], "MOST_RECORDS", 3)
    assert len(read_all(*done(VALUE, TWO + OTHER))) == 3
    for data in (TWO + TWO, OTHER + TWO + OTHER):
        with pytest.raises(Unable, match=r"^more than 3 records$"):
            done(VALUE, data)


@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_a_record_gets_another_time_and_other_headers(compression: Any) -> None:
    batch = build([Record(0, 5, b"a", b"b"), Record(1, 6, b"c", b"d")], compression=compression)
    headers = [["h", "x"], ["h", None], ["ü", ""]]
    (found,) = done({"path": FIRST, "record": 0, "timestamp": 3, "headers": headers}, batch)
    (one,) = read(found)
    first, second = one
    assert (one.crc_ok, one.base_timestamp, one.max_timestamp) == (True, 5, 6)
    assert (first.timestamp, first.headers) == (3, (("h", b"x"), ("h", None), ("ü", b"")))
    assert (first.key, first.value, second) == (b"a", b"b", Record(1, 6, b"c", b"d"))
    (found,) = done({"path": FIRST, "record": 0, "timestamp": 9}, batch)
    assert next(iter(read(found))).max_timestamp == 9


def test_headers_can_stand_in_base64_and_be_taken_away() -> None:
    (found,) = done({"path": FIRST, "headers": [["h", "/w=="]], "base64": True}, TWO)
    assert [record.headers for record in read_all(found)] == [(("h", b"\xff"),)] * 2
    (found,) = done({"path": FIRST, "headers": []}, TWO)
    assert [record.headers for record in read_all(found)] == [()] * 2
