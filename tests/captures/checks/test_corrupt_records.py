"""Test which record batches are reported: those that brokers and consumers reject."""

from __future__ import annotations

import gzip
import uuid
import zlib
from dataclasses import replace
from typing import Any

import pytest

from barnabas.captures.checks.facts import PLACES
from barnabas.captures.checks.flaws import MOST, OUTPUT, PACKED, RECORDS
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.records import Record, build, control_key, marker_value, with_crc
from tests.captures.checks.given import descriptions, exchange, findings_of
from tests.captures.checks.given import produce as produced

TOPIC = uuid.UUID(int=1)
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
FIVE = tuple(Record(100 + n, 1_700_000_000_000 + n, b"k", b"value") for n in range(5))
SOUND = build(FIVE)
HEADER = {
    "magic": (16, 1),
    "attributes": (21, 2),
    "last_offset_delta": (23, 4),
    "max_timestamp": (35, 8),
    "producer_id": (43, 8),
    "base_sequence": (53, 4),
    "count": (57, 4),
}
"""Where fields of a batch of magic 2 stand, and their bytes."""


def changed(data: bytes, **fields: int) -> bytes:
    """Change values in the header of a batch, with a correct checksum."""
    out = bytearray(data)
    for name, value in fields.items():
        at, size = HEADER[name]
        out[at : at + size] = value.to_bytes(size, signed=True)
    return with_crc(bytes(out))


def filled(data: bytes, rest: bytes) -> bytes:
    """Replace the bytes after the header of a batch."""
    whole = data[:61] + rest
    return with_crc(whole[:8] + (len(whole) - 12).to_bytes(4) + whole[12:])


def message(magic: int, value: bytes, attributes: int = 0, offset: int = 0) -> bytes:
    """Make a message of magic 0 or 1."""
    body = bytes((magic, attributes)) + bytes(8 * magic)
    body += b"\xff\xff\xff\xff" + len(value).to_bytes(4) + value
    size = (len(body) + 4).to_bytes(4)
    return offset.to_bytes(8) + size + zlib.crc32(body).to_bytes(4) + body


def old(magic: int, **more: Any) -> bytes:
    """Make messages of magic 0 or 1 with the records of FIVE."""
    return build(
        [one if magic else one._replace(timestamp=-1) for one in FIVE], magic=magic, **more
    )


def fetch(records: bytes | None, version: int = 11, error: int = 0, at: float = 1) -> Exchange:
    partition = {"partition_index": 0, "error_code": error, "records": records}
    asked = [{"topic": "t", "partitions": [{"partition": 0, "fetch_offset": 100}]}]
    answer = {"responses": [{"topic": "t", "partitions": [partition]}]}
    return exchange("Fetch", version, {"topics": asked}, answer, at=at)


def produce(records: bytes | None, version: int = 9, error: int = 0, **answer: Any) -> Exchange:
    more: dict[str, Any] = {"version": version, "error": error, "answer": answer}
    return produced(1, [], topic="t", records=records, **more)


def share_fetch(records: bytes) -> Exchange:
    partition = {"partition_index": 0, "records": records, "acquired_records": []}
    body = {"responses": [{"topic_id": TOPIC, "partitions": [partition]}]}
    return exchange("ShareFetch", 1, {"group_id": "g"}, body, at=1)


BROKEN = SOUND[:17] + bytes(4) + SOUND[21:]
NESTED = message(1, gzip.compress(message(1, gzip.compress(message(1, b"v")), 1)), 1, 6)
OF_TRANSACTION: dict[str, Any] = {"producer_id": 9, "producer_epoch": 1, "is_control": True}
CONTROL = build([Record(7, 5, control_key("COMMIT"), marker_value(3))], **OF_TRANSACTION)
SNAPPY = build(FIVE, compression="snappy")
COMPACTED = build([FIVE[0], FIVE[3]])

FETCHED = {
    "checksum": (BROKEN, "at offset 100: the checksum is 0x00000000, and should be 0x"),
    "crc32": (message(1, b"v")[:12] + bytes(4) + message(1, b"v")[16:], "at offset 0: the checksum"),
    "nested": (NESTED, "at offset 6: gzip.records[0].attributes: a wrapper inside a wrapper"),
    "inner crc": (
        message(0, gzip.compress(message(0, b"v")[:-1] + b"w"), 1, 6),
        "at offset 6: gzip.records[0].crc: the checksum is",
    ),
    "count": (changed(SOUND, count=4), "records: 13 bytes after the last of 4 records"),
    "too many": (changed(SOUND, count=6), "6 records announced, and a last offset delta of 4"),
    "delta": (changed(SOUND, last_offset_delta=3), "5 records announced, and a last offset delta of 3"),
    "no span": (changed(SOUND, last_offset_delta=-1, count=0), "0 records announced, and a last"),
    "codec": (changed(SOUND, attributes=5), "codec 5, which Kafka does not have"),
    "snappy": (
        filled(SNAPPY, b"\x82SNAPPY\0" + bytes(8) + b"\0\0\0\x63ab"),
        "snappy: a chunk of 99 bytes announced, 2 remain",
    ),
    "zstd in magic 1": (message(1, b"v", 4), "zstd in magic 1: it came with magic 2"),
    "magic": (changed(SOUND, magic=3), "batches[0].magic: magic 0, 1 or 2, not 3"),
    "control": (
        build([Record(7, 5, b"\0", None)], **OF_TRANSACTION),
        "at offset 7 of producer 9: key: 4 bytes of a control record",
    ),
    "size": (bytes(8) + b"\xff\xff\xff\xff" + bytes(20), "batches[0].size: 14 to"),
    "second": (SOUND + BROKEN, "the checksum is 0x00000000"),
}  # fmt: skip

SENT = {
    "checksum": (BROKEN, "the checksum is 0x00000000, and should be 0x"),
    "fewer": (changed(SOUND, count=3), "3 records announced, and a last offset delta of 4"),
    "gap": (COMPACTED, "2 records announced, and a last offset delta of 3"),
    "none": (changed(SOUND, count=0), "0 records announced"),
    "deltas": (
        changed(build([FIVE[0], FIVE[2], FIVE[4]]), last_offset_delta=2),
        "record 2 has an offset delta of 2",
    ),
    "control": (CONTROL, "of producer 9: control records, which only brokers write"),
    "sequence": (changed(SOUND, producer_id=7), "of producer 7: a producer id without a sequence number"),
    "clock": (changed(SOUND, attributes=8), "timestamps of the type LogAppendTime"),
    "two": (SOUND + SOUND, "more than one batch"),
    "cut": (SOUND[:-1], "no whole batch"),
    "trailing": (SOUND + SOUND[:9], "9 bytes after the batch"),
    "old magic": (message(1, b"v"), "magic 1 in version 9"),
}  # fmt: skip


@pytest.mark.parametrize(("records", "words"), FETCHED.values(), ids=FETCHED)
def test_what_a_consumer_refuses(records: bytes, words: str) -> None:
    (finding,) = findings_of("corrupt_records", fetch(records))
    assert finding.severity == "error"
    assert finding.what.startswith("t[0]: the broker sent a corrupt batch")
    assert words in finding.what
    assert "kafka-dump-log" in finding.advice


@pytest.mark.parametrize(("records", "words"), SENT.values(), ids=SENT)
def test_what_a_broker_refuses(records: bytes, words: str) -> None:
    (finding,) = findings_of("corrupt_records", produce(records, error=2))
    assert finding.severity == "error"
    assert finding.what.startswith("t[0]: the client sent a corrupt batch")
    assert words in finding.what
    assert finding.what.endswith("; the broker refused it: CORRUPT_MESSAGE")


ZSTD = build(FIVE, compression="zstd")


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (fetch(SOUND, version=3), "magic 2 in version 3"),
        (fetch(message(1, b"v"), version=1), "magic 1 in version 1"),
        (fetch(ZSTD, version=9), "zstd in version 9: it came with version 10"),
        (produce(ZSTD, version=6), "zstd in version 6: it came with version 7"),
        (produce(SOUND, version=2), "magic 2 in version 2"),
        (produce(SOUND + SOUND, version=3), "more than one batch"),
        (share_fetch(BROKEN), "the checksum is 0x00000000"),
    ],
)
def test_what_a_version_may_not_carry(one: Exchange, words: str) -> None:
    (finding,) = findings_of("corrupt_records", one)
    assert words in finding.what


COMPRESSED = {codec: build(FIVE, compression=codec) for codec in CODECS}


@pytest.mark.parametrize(
    "one",
    [
        *(fetch(records) for records in COMPRESSED.values()),
        *(produce(records) for records in COMPRESSED.values()),
        *(fetch(old(magic, compression="gzip"), version=2 * magic) for magic in (0, 1)),
        *(produce(old(magic), version=magic) for magic in (0, 1)),
        *(fetch(SOUND, version=4), produce(SOUND, version=3)),  # before there was zstd
        fetch(COMPACTED),
        fetch(filled(changed(SOUND, count=0), b"")),  # compaction left none
        fetch(CONTROL),
        *(fetch(records) for records in (SOUND + SOUND[:30], SOUND[:30], b"", None)),
        fetch(changed(SOUND, attributes=8, max_timestamp=1)),
        fetch(changed(SOUND, max_timestamp=1)),  # no consumer compares it
        produced(1, ["a", "b"], producer=7, epoch=0, sequence=4),
        share_fetch(SOUND),
    ],
)
def test_what_is_sound(one: Exchange) -> None:
    assert findings_of("corrupt_records", one) == []


def test_what_the_broker_alone_calls_invalid() -> None:
    invalid = produce(SOUND, error=87, error_message="no key")
    words = "t[0]: the broker refused records that look sound: INVALID_RECORD: no key"
    assert descriptions(findings_of("corrupt_records", invalid)) == [("warning", words)]
    (early,) = findings_of("corrupt_records", produce(SOUND, error=32))
    assert early.what.endswith("records that look sound: INVALID_TIMESTAMP")
    unreadable = "t[0]: the broker can't read it: CORRUPT_MESSAGE"
    assert descriptions(findings_of("corrupt_records", fetch(b"", error=2))) == [
        ("error", unreadable)
    ]
    assert findings_of("corrupt_records", produce(SOUND, error=6)) == []


def test_a_batch_that_comes_again_is_told_once() -> None:
    assert (
        len(findings_of("corrupt_records", *(fetch(BROKEN, at=1 + 2 * n) for n in range(5)))) == 1
    )


def test_a_payload_that_was_taken_out_is_not_read() -> None:
    digits = filled(SNAPPY, b"0123456789")
    hidden = {"response": {"responses[0].partitions[0].records": "a1"}}
    assert len(findings_of("corrupt_records", fetch(digits))) == 1
    assert findings_of("corrupt_records", replace(fetch(digits), payload=hidden)) == []


@pytest.mark.parametrize("codec", CODECS[1:])
def test_what_is_compressed_is_read_up_to_a_size(codec: str) -> None:
    """A few bytes that hold many megabytes must not cost minutes."""

    def damaged(size: int) -> bytes:
        """Make a batch of almost this size whose second record repeats the offset of the first."""
        records = [Record(offset, 5, None, bytes(size * (not offset))) for offset in (0, 0, 2)]
        return build(records, compression=codec)

    assert len(findings_of("corrupt_records", produce(damaged(OUTPUT // 2 - 100)))) == 1
    assert findings_of("corrupt_records", produce(damaged(OUTPUT // 2 + 100))) == []


def test_compressed_batches_are_read_up_to_a_number() -> None:
    wrong = filled(SNAPPY, b"0123456789")
    sound = build(FIVE, compression="gzip")
    assert len(findings_of("corrupt_records", fetch(sound * (PACKED - 1) + wrong))) == 1
    assert findings_of("corrupt_records", fetch(sound * PACKED + wrong)) == []


def test_records_are_read_up_to_a_number() -> None:
    def backwards(at: int) -> bytes:
        """Make records of which one repeats the offset of the one before."""
        records = [Record(n - (n == at), 5, None, b"v") for n in range(RECORDS + 10)]
        return build(records)

    assert len(findings_of("corrupt_records", fetch(backwards(RECORDS - 1)))) == 1
    assert findings_of("corrupt_records", fetch(backwards(RECORDS + 5))) == []


def test_partitions_of_a_message_are_told_up_to_a_number() -> None:
    partitions = [{"partition_index": n, "records": BROKEN} for n in range(MOST + 10)]
    responses = [{"topic": "t", "partitions": partitions}]
    one = exchange("Fetch", 11, {"topics": []}, {"responses": responses}, at=1)
    assert len(findings_of("corrupt_records", one)) == MOST


def test_a_batch_that_was_sent_is_known_with_its_answer() -> None:
    for error, records, answers in (
        (7, SOUND, [(7, 5)]),
        (None, SOUND, [(None, None)]),
        (7, b"", []),
    ):
        one = produced(1, [], error=error, offset=5, records=records)
        places = PLACES.of(one) or ()
        assert [
            (partition.error, partition.offset)
            for partition in places
            if partition.checksum is not None
        ] == answers
