"""Varints and records of magic 2, by hand."""

from __future__ import annotations

import struct
import zlib

import pytest

from barnabas.specs import records
from barnabas.specs.malformed import Malformed
from barnabas.specs.records import compress
from barnabas.specs.records.record import Record, add_sequence, int64, varint
from barnabas.specs.records.record_reader import record_reader


@pytest.mark.parametrize(
    ("data", "bits", "value"),
    [
        ("00", 32, 0),
        ("01", 32, -1),
        ("02", 32, 1),
        ("feffffff0f", 32, 2**31 - 1),
        ("ffffffff0f", 32, -(2**31)),
        ("8080808000", 32, 0),  # overlong
        ("feffffffffffffffff01", 64, 2**63 - 1),
        ("ffffffffffffffffff01", 64, -(2**63)),
        ("ffffffff7f", 32, -(2**31)),  # bits beyond the width
    ],
)
def test_varint(data: str, bits: int, value: int) -> None:
    raw = bytes.fromhex(data)
    assert varint(raw + b"\xff", 0, "length", bits) == (value, len(raw))


@pytest.mark.parametrize(
    ("data", "bits", "offset", "reason"),
    [
        ("808080808000", 32, 4, "a varint of 32 bits that does not end"),
        ("8080808080808080808000", 64, 9, "a varint of 64 bits that does not end"),
        ("", 32, 0, "a varint, where the bytes end"),
        ("8080", 32, 2, "a varint, where the bytes end"),
    ],
)
def test_a_varint_that_does_not_end(data: str, bits: int, offset: int, reason: str) -> None:
    with pytest.raises(Malformed) as raised:
        varint(bytes.fromhex(data), 0, "length", bits)
    assert (raised.value.path, raised.value.offset, raised.value.reason) == (
        "length",
        offset,
        reason,
    )


@pytest.mark.parametrize(
    ("data", "path", "reason"),
    [
        ("0e0000000101 00ff", "records[0].length", "7 bytes announced, its fields take 6"),
        ("140000000101 06 0001 0001", "records[0].headers", "3 announced, 4 bytes remain"),
        ("0c0000000101 03", "records[0].headers", "-2 announced, 0 bytes remain"),
        ("160000000101 02 00 0676", "records[0].length", "11 bytes announced, 9 remain"),
    ],
)
def test_lengths_and_counts_fit_their_bytes(data: str, path: str, reason: str) -> None:
    raw = bytes.fromhex(data)
    with pytest.raises(Malformed) as raised:
        list(record_reader()(raw, 1, 0, 0))
    assert (raised.value.path, raised.value.reason) == (path, reason)


def test_fewer_records_than_are_announced() -> None:
    with pytest.raises(Malformed, match="2 records announced, 13 bytes remain"):
        list(record_reader()(bytes.fromhex("0c000000010100") + bytes(6), 2, 0, 0))


def test_a_header_key_that_is_no_utf8_is_read_as_java_reads_it() -> None:
    data = b"\x14\0\0\0\x01\x01\x02\x04k\xff\x01"
    (record,) = record_reader()(data, 1, 0, 0)
    assert record == Record(0, 0, None, None, (("k\ufffd", None),))


def test_sums_wrap_around_as_they_do_in_java() -> None:
    # a record whose deltas are both 2
    data = b"\x0c\0\x04\x04\x01\x01\0"
    (record,) = record_reader()(data, 1, 2**63 - 1, 2**63 - 2)
    assert (record.offset, record.timestamp) == (-(2**63) + 1, -(2**63))
    assert int64(-(2**63) - 1) == 2**63 - 1
    assert (add_sequence(2**31 - 2, 3), add_sequence(0, 1), add_sequence(-89, 1)) == (1, 1, -1)


def _message(body: bytes, offset: int = 7) -> bytes:
    return struct.pack(">qiI", offset, len(body) + 4, zlib.crc32(body)) + body


@pytest.mark.parametrize("length", [-1, -2, -(2**31)])
def test_any_length_below_zero_is_null(length: int) -> None:
    body = b"\0\0" + struct.pack(">ii", length, length)
    (batch,) = records.read(_message(body))
    assert batch.crc_ok
    assert batch.records() == (Record(7, -1, None, None),)


def _wrapper(attributes: int, value: bytes) -> bytes:
    return _message(bytes((0, attributes)) + struct.pack(">ii", -1, len(value)) + value)


PLAIN = _message(b"\0\0" + struct.pack(">ii", -1, -1))


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (
            _message(b"\0\0" + struct.pack(">i", 2) + bytes(4)),
            "value at byte 24: a length of 4 bytes, 2",
        ),
        (
            _message(b"\0\0" + struct.pack(">ii", -1, 5) + b"abcd"),
            "value at byte 22: 5 bytes announced, 4",
        ),
        (_wrapper(4, compress("zstd", PLAIN)), "attributes at byte 17: zstd came with magic 2"),
        (_wrapper(1, b"abcd"), "gzip at byte 26: Error -3"),
        (_wrapper(1, zlib.compress(PLAIN)), "gzip at byte 26: Error -3"),  # zlib's own header
        (
            _wrapper(1, zlib.compress(struct.pack(">qi", 0, 13) + bytes(13), wbits=31)),
            "gzip.records[0].size at byte 8: at least 14, not 13",
        ),
        (
            _wrapper(
                1, zlib.compress(PLAIN + struct.pack(">qiIb", 1, 14, 0, 1) + bytes(9), wbits=31)
            ),
            "gzip.records[1].size at byte 34: at least 22, not 14",
        ),
    ],
)
def test_a_message_that_is_malformed(data: bytes, error: str) -> None:
    batch, _ = records.read(data + PLAIN)
    with pytest.raises(Malformed) as raised:
        batch.records()
    assert str(raised.value).startswith(f"batches[0].{error}")
