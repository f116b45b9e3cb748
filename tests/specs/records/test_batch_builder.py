"""What is built reads as it was meant, and what cannot be written is named."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.specs import records
from barnabas.specs.codec import Malformed, Unfit
from barnabas.specs.embedded import read_control_record
from barnabas.specs.records import Record, build, rebuild, with_crc


def test_a_transaction_and_its_marker() -> None:
    data = build([Record(5, 1, b"k", b"v")], is_transactional=True, producer_id=1)
    marker = Record(6, 2, records.control_key("COMMIT"), records.marker_value(9))
    data += build([marker], is_transactional=True, is_control=True, producer_id=1)
    body, end = records.read(data)
    assert (body.is_transactional, body.is_control) == (True, False)
    assert (end.is_transactional, end.is_control) == (True, True)
    assert list(records.read(data, control_only=True)) == [end]
    (read,) = end.records()
    assert records.control_type(read) == "COMMIT"
    assert read_control_record(read.key, read.value).value.values == {"coordinator_epoch": 9}
    # a time where magic 2 has attributes
    message = build([Record(0, 0x20 << 24, None, b"v")], magic=1)
    assert list(records.read(message, control_only=True)) == []


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_a_checksum_is_repaired(magic: int) -> None:
    data = build([Record(0, 5 if magic else -1, None, b"abc")], magic=magic)
    changed = data.replace(b"abc", b"abd")
    assert [batch.crc_ok for batch in records.read(changed)] == [False]
    mended = with_crc(changed)
    assert [(b.crc_ok, b.records()[0].value) for b in records.read(mended)] == [(True, b"abd")]


ANY: Any = None
"""In place of a value of the wrong type."""


def one(**changes: Any) -> dict[str, Any]:
    return {"records": [Record(0, -1, b"k", b"v"), Record(1, -1, b"k", b"v")._replace(**changes)]}


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"compression": "brotli"}, "compression: 'brotli' is not one of none, gzip"),
    ({"compression": "zstd", "magic": 1}, "compression: magic 1 has no codec zstd"),
    ({"magic": 3}, "magic: 0, 1 or 2, not 3"),
    ({"magic": 0, "timestamp_type": "LogAppendTime"}, "timestamp_type: "),
    ({"magic": 2, "timestamp_type": "NoTimestampType"}, "timestamp_type: "),
    ({"base_timestamp": 1, "delete_horizon": 2}, "base_timestamp: the delete horizon is there, 2"),
    ({"base_offset": 2**40}, "records[0].offset: 0 is too far from 1099511627776, the batch's"),
    ({"base_offset": 2**63}, "base_offset: 9223372036854775808 is not a valid int64"),
    ({"base_offset": "5"}, "base_offset: '5' is not a valid int64"),
    ({"last_offset": 2**31}, "last_offset: 2147483648 is not a valid int32"),
    ({"max_timestamp": -(2**63) - 1}, "max_timestamp: "),
    ({"delete_horizon": 2**63}, "base_timestamp: "),
    (
        {"max_timestamp": 2**63, "magic": 1, "compression": "gzip"},
        "max_timestamp: 9223372036854775808 is not a valid int64",
    ),
    ({"partition_leader_epoch": 2**31}, "partition_leader_epoch: 2147483648 is not a valid int32"),
    ({"producer_id": 2**63}, "producer_id: "),
    ({"producer_epoch": 2**15}, "producer_epoch: 32768 is not a valid int16"),
    ({"base_sequence": -(2**31) - 1}, "base_sequence: "),
    *((one(offset=value), "records[1].offset: ") for value in (2**31, -(2**31) - 1, 2**63, "1")),
    *((one(timestamp=value), "records[1].timestamp: ") for value in (2**63, -(2**63) - 1, None)),
    ({"records": [Record(2**63 - 1 + i, 0, None, None) for i in (0, 1)]}, "records[1].offset: "),
    ({"records": [Record(0, 2**63 - 1 + i, None, None) for i in (0, 1)]}, "records[1].timestamp: "),
    *((one(key=value), "records[1].key: bytes or None") for value in ("text", 5, [1])),
    *((one(value=value), "records[1].value: bytes or None") for value in ("text", 5, [1])),
    (one(headers=5), "records[1].headers: pairs"),
    (one(headers=(5,)), "records[1].headers[0]: a pair"),
    (one(headers=(("k", b""), (5, b""))), "records[1].headers[1].key: a string is expected, not 5"),
    (one(headers=(("\ud800", b""),)), "records[1].headers[0].key: '\\ud800' is not valid text"),
    (one(headers=(("k", "text"),)), "records[1].headers[0].value: bytes or None"),
    ({"records": [ANY]}, "records[0]: a Record is expected, not None"),
    ({"records": [Record(0, 0, None, None), (1, 2)]}, "records[1]: a Record is expected"),
    (
        {"records": [], "magic": 1, "compression": "gzip"},
        "records: Kafka rejects a wrapper without a message",
    ),
    ({"records": [], "magic": 1, "last_offset": 5}, "last_offset: it would be read as None, not 5"),
    *(
        (one(**change) | {"magic": magic, "compression": codec}, f"records[1].{name}: ")
        for magic in (0, 1)
        for codec in ("none", "gzip")
        for name, change in (
            ("offset", {"offset": 2**63}),
            ("key", {"key": "text"}),
            ("value", {"value": 5}),
            ("headers", {"headers": (("k", b""),)}),
        )
    ),
    (one(timestamp=5) | {"magic": 0}, "records[1].timestamp: magic 0 has none"),
    *(
        ({"magic": magic, name: value}, f"{name}: ")
        for magic in (0, 1)
        for name, value in (
            ("base_offset", 1),
            ("last_offset", 1),
            ("base_timestamp", -1),
            ("max_timestamp", 8),
            ("partition_leader_epoch", 0),
            ("producer_id", 0),
            ("producer_epoch", 0),
            ("base_sequence", 0),
            ("is_transactional", True),
            ("is_control", True),
            ("delete_horizon", 5),
        )
    ),
    ({"magic": 0, "compression": "gzip", "max_timestamp": 5}, "max_timestamp: it would be read"),
    (one() | {"magic": 1, "compression": "gzip", "last_offset": 9}, "last_offset: the last rec"),
]


@pytest.mark.parametrize(("changes", "problem"), WRONG, ids=lambda case: str(case)[:60])
def test_what_does_not_fit_is_named(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(Unfit) as caught:
        build(**{"records": [Record(0, -1, None, b"a")]} | changes)
    assert str(caught.value).startswith(problem)


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_other_kinds_of_bytes_are_written_too(magic: int) -> None:
    pairs = memoryview(b"values").cast("H")  # three items of two bytes
    others: list[tuple[Any, bytes]] = [(bytearray(b"key"), b"key"), (pairs, b"values")]
    for other, same in others:
        for found, fit in (
            (Record(1, -1, other, b"v"), Record(1, -1, same, b"v")),
            (Record(1, -1, None, other), Record(1, -1, None, same)),
        ):
            first = Record(0, -1, b"k", b"v")
            assert build(iter([first, found]), magic=magic) == build([first, fit], magic=magic)


@pytest.mark.parametrize(("magic", "codec"), [(1, "none"), (1, "gzip"), (2, "gzip")])
def test_append_time_stands_in_for_every_timestamp(magic: int, codec: str) -> None:
    results = [Record(0, 10, None, b"a"), Record(1, 20, None, b"b")]
    data = build(
        results, magic=magic, compression=codec, timestamp_type="LogAppendTime", max_timestamp=99
    )
    read = [record.timestamp for batch in records.read(data) for record in batch]
    assert read == [99, 99]


def test_a_wrapper_of_offset_0_holds_absolute_offsets() -> None:
    results = [Record(70, 5, None, b"a"), Record(72, 5, None, b"b")]
    (batch,) = records.read(build(results, magic=1, compression="gzip", last_offset=0))
    assert (batch.last_offset, batch.records()) == (0, tuple(results))


def test_numbers_wrap_around_as_they_do_in_java() -> None:
    results = [Record(2**63 - 1, 2**63 - 1, None, b"a"), Record(-(2**63) + 1, -(2**63), None, b"b")]
    (batch,) = records.read(build(results, base_offset=2**63 - 1, base_timestamp=-5))
    assert batch.records() == tuple(results)
    assert batch.last_offset == -(2**63) + 1


def test_a_set_of_other_records_keeps_the_header() -> None:
    data = build(
        [Record(5, 7, None, b"a"), Record(6, 8, None, b"b")], producer_id=9, is_control=True
    )
    (batch,) = records.read(data)
    (other,) = records.read(rebuild(batch, batch.records()[:1]))
    assert other.records() == batch.records()[:1]
    assert (other.count, other.last_offset, other.producer_id) == (1, 6, 9)
    assert (other.is_control, other.crc_ok) == (True, True)


def test_a_wrapper_of_fewer_records_has_the_offset_of_its_last() -> None:
    results = [Record(5, 7, None, b"a"), Record(8, 8, None, b"b"), Record(9, 9, None, b"c")]
    (batch,) = records.read(build(results, magic=1, compression="gzip"))
    (other,) = records.read(rebuild(batch, results[:2]))
    assert (other.last_offset, other.records()) == (8, tuple(results[:2]))


def test_a_codec_there_is_not_cannot_be_built_again() -> None:
    data = bytearray(build([Record(0, 0, None, b"a")]))
    data[22] |= 7
    (batch,) = records.read(bytes(data))
    with pytest.raises(Unfit, match="compression: magic 2 has no codec unknown-7"):
        rebuild(batch, [])


@pytest.mark.parametrize("size", [63, 64, 8185, 8192, 100_000, 3_000_000])
def test_records_of_any_size(size: int) -> None:
    results = [Record(0, 0, bytes(size), b""), Record(1, 2**40, None, bytes(size))]
    results.append(Record(2, 0, b"k", None, (("h", bytes(size)),)))
    (batch,) = records.read(build(results))
    assert batch.records() == tuple(results)


def test_a_record_of_negative_length_is_refused() -> None:
    data = bytearray(build([Record(0, 0, None, b"abcdef")]))
    assert data[61] == 2 * 12
    data[61] = 2 * 12 + 1
    (batch,) = records.read(bytes(data))
    with pytest.raises(Malformed, match=r"records\[0\].length"):
        batch.records()


def test_nothing_is_behind_the_header_of_an_empty_batch() -> None:
    data = build([], compression="gzip")
    (batch,) = records.read(data)
    assert (len(data), batch.base_offset, batch.max_timestamp) == (61, 0, -1)


@pytest.mark.parametrize("magic", [1, 2])
def test_a_time_before_1970_is_read(magic: int) -> None:
    (batch,) = records.read(build([Record(0, -5, None, b"a")], magic=magic))
    assert (batch.max_timestamp, batch.records()[0].timestamp) == (-5, -5)
