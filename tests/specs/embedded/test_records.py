"""Records of internal topics and control records that a broker wrote, as Kafka's classes read them."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.specs import Malformed, embedded, records
from barnabas.specs.embedded import EmbeddedMessage
from barnabas.specs.embedded.record_sets import MAX_OUTPUT, read_internal_records
from barnabas.specs.embedded.registry import COORDINATORS, METADATA_RECORDS
from barnabas.specs.records import Record
from tests.golden.frames import from_kafka_json
from tests.specs.embedded.real import BATCHES, Line, batches, name


def expected(part: dict[str, Any] | None) -> EmbeddedMessage | None:
    if part is None:
        return None
    layout = embedded.message(part["message"]).layout(part["version"])
    return EmbeddedMessage(part["message"], part["version"], from_kafka_json(layout, part["json"]))


def records_of(line: Line) -> list[tuple[Record, dict[str, Any]]]:
    (batch,) = records.read(bytes.fromhex(line["hex"]))
    assert batch.crc_ok
    return list(zip(batch, line["records"], strict=True))


@pytest.mark.parametrize("line", BATCHES, ids=name)
def test_every_record_says_what_kafka_reads_in_it_and_is_written_as_it_was(line: Line) -> None:
    for record, theirs in records_of(line):
        assert record.offset == theirs["offset"]
        value = expected(theirs["value"])
        if "control" in theirs:
            kind, found = embedded.read_control_record(record.key, record.value)
            assert (kind, found) == (theirs["control"], value)
            assert record.value is not None
            assert record.value.endswith(encoded(found))
            continue
        key = expected(theirs.get("key"))
        assert embedded.read_topic_record(line["topic"], record.key, record.value) == (key, value)
        if key is not None:
            types = {f"{stem}Key": number for number, stem in COORDINATORS[line["topic"]].items()}
            assert record.key == types[key.name].to_bytes(2) + encoded(key)
        if value is None:
            assert record.value is None
        elif key is not None:
            assert record.value == value.version.to_bytes(2) + encoded(value)
        else:
            types = {stem: number for number, stem in METADATA_RECORDS.items()}
            assert record.value == bytes((1, types[value.name], value.version)) + encoded(value)


def encoded(found: EmbeddedMessage) -> bytes:
    return embedded.message(found.name).codec(found.version).encode(found.values)


KEY = b"\0\1\0\1g\0\1t\0\0\0\0"
VALUE = bytes.fromhex("0003 0000000000000005 ffffffff 0000 0000000000000001".replace(" ", ""))


@pytest.mark.parametrize(
    ("topic", "key", "value", "problem"),
    [
        ("__consumer_offsets", None, VALUE, "key at byte 0: null, where"),
        ("__consumer_offsets", b"\0", VALUE, "key.type at byte 0: 2 bytes expected, 1 remain"),
        ("__consumer_offsets", b"\0\x09", VALUE, "key.type at byte 0: records of type 9 are not"),
        ("__consumer_offsets", b"\xff\xff", VALUE, "key.type at byte 0: records of type -1"),
        ("__consumer_offsets", KEY[:-1], VALUE, "key.partition at byte 8: 4 bytes expected"),
        ("__consumer_offsets", KEY, b"", "value.version at byte 0: 2 bytes expected, 0 remain"),
        ("__consumer_offsets", KEY, b"\0\5", "value.version at byte 0: OffsetCommitValue has"),
        ("__consumer_offsets", KEY, VALUE[:5], "value.offset at byte 2: 8 bytes expected"),
        ("__cluster_metadata", None, None, "value at byte 0: null"),
        ("__cluster_metadata", None, b"", "value.frame_version at byte 0: an unsigned varint"),
        ("__cluster_metadata", None, b"\0\2\0", "value.frame_version at byte 0: 1 is the only"),
        ("__cluster_metadata", None, b"\1\x06\0", "value.type at byte 1: metadata records of type 6"),
        ("__cluster_metadata", None, b"\1\x9b\1\0", "value.type at byte 1: metadata records of type 155"),
        ("__cluster_metadata", None, b"\1\x14\7", "value.version at byte 0: NoOpRecord has"),
        ("__cluster_metadata", None, b"\1\x14\0", "value._tags at byte 3: 1 bytes expected"),
        ("__cluster_metadata", None, b"\1" + b"\xff" * 6, "value.type at byte 1: an unsigned varint"),
    ],
)  # fmt: skip
def test_what_is_no_record_of_a_topic(
    topic: str, key: bytes | None, value: bytes | None, problem: str
) -> None:
    with pytest.raises(Malformed) as raised:
        embedded.read_topic_record(topic, key, value)
    assert str(raised.value).startswith(problem)


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        (None, b"\0\0\0\0\0\0", "key at byte 0: null"),
        (b"\0\0\0\0", None, "value at byte 0: null"),
        (b"\0\0\0", b"", "key.type at byte 2: 2 bytes expected for int16, 1 remain"),
        (b"\xff\xff\0\0", b"\0\0\0\0\0\0", "key.version at byte 0: ControlRecordTypeSchema has"),
        (b"\0\0\0\x07", b"", "key.type at byte 2: control records of type 7"),
        (b"\0\0\xff\xff", b"", "key.type at byte 2: control records of type -1"),
        (b"\0\0\0\1", b"\0\0\0", "value.coordinator_epoch at byte 2: 4 bytes expected"),
        (b"\0\0\0\2", b"\0\0\0", "value.leader_id at byte 2: 4 bytes expected"),
    ],
)
def test_what_is_no_control_record(key: bytes | None, value: bytes | None, problem: str) -> None:
    with pytest.raises(Malformed) as raised:
        embedded.read_control_record(key, value)
    assert str(raised.value).startswith(problem)


def test_a_newer_key_and_marker_are_read_as_the_newest_known() -> None:
    kind, value = embedded.read_control_record(b"\0\3\0\0", b"\0\2\0\0\0\7\xff")
    assert (kind, value.values) == ("ABORT", {"coordinator_epoch": 7})
    assert [(odd.offset, odd.what) for odd in value.oddities] == [
        (0, "version 2, read as 0"),
        (6, "1 trailing bytes"),
    ]


@pytest.mark.parametrize(
    ("release", "hexed", "names"),
    [
        ("2.7.2", "00000005 02 00000001 00 00", ["leader_id", "voters"]),
        ("2.8.2", "00000005 02 00000001 00 02 00000002 00 00", ["leader_id", "voters", "granting_voters"]),
        (
            "3.0.2",
            "0000 00000005 02 00000001 00 02 00000002 00 00",
            ["version", "leader_id", "voters", "granting_voters"],
        ),
    ],
)  # fmt: skip
def test_the_leader_change_of_each_release(release: str, hexed: str, names: list[str]) -> None:
    data = bytes.fromhex(hexed)
    kind, value = embedded.read_control_record(b"\0\0\0\2", data, release=release)
    assert kind == "LEADER_CHANGE"
    assert value.values["leader_id"] == 5
    assert value.values["voters"] == [{"voter_id": 1}]
    assert list(value.values) == names
    assert value.oddities == ()


def test_a_limited_look_says_how_much_it_left_off() -> None:
    data = batches("__consumer_offsets")
    everything = read_internal_records(data, "__consumer_offsets", limit=1000)
    some = read_internal_records(data, "__consumer_offsets", limit=5)
    assert (everything.left_off, everything.error) == (0, None)
    assert some.records == everything.records[:5]
    assert some.left_off == len(everything.records) - 5
    assert read_internal_records(data, "__consumer_offsets", limit=0).left_off == len(
        everything.records
    )


def test_a_key_is_shown_even_if_its_value_cannot_be_read() -> None:
    batch = bytearray(batches("__transaction_state"))
    value = next(iter(records.read(bytes(batch)))).records()[0].value
    assert value is not None
    at = batch.index(value)
    batch[at : at + 2] = b"\0\x63"
    record = read_internal_records(bytes(batch), "__transaction_state", limit=1).records[0]
    assert isinstance(record.key, EmbeddedMessage)
    assert isinstance(record.value, Malformed)
    assert record.value.path == "value.version"


def test_a_batch_that_would_fill_the_memory_is_not_decompressed() -> None:
    bomb = records.build([Record(0, 0, b"\0\0", bytes(MAX_OUTPUT))], compression="gzip")
    found = read_internal_records(bomb, "__transaction_state", limit=9)
    assert found.records == []
    assert isinstance(found.error, Malformed)


def test_other_topics_have_no_records_of_kafka() -> None:
    with pytest.raises(LookupError):
        embedded.read_topic_record("orders", KEY, VALUE)
