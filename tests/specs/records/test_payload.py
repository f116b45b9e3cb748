"""Where applications' bytes stand in a batch."""

from __future__ import annotations

import struct

import pytest

from barnabas.specs.records import Record, build, compress, read
from barnabas.specs.records.batch import OVERHEAD, Batch
from barnabas.specs.records.payload import payload

RECORDS = [
    Record(0, 1000, b"k" * 200, b"v" * 70_000, (("header", b"x"), ("none", None), ("", b""))),
    Record(1, 2000, None, b""),
    Record(2, 1500, b"", None, (("last", b"y"),)),
]


def only(data: bytes) -> Batch:
    (batch,) = read(data)
    return batch


def pieces(batch: Batch) -> list[bytes]:
    return [bytes(batch.data[start:end]) for start, end in payload(batch)]


def test_every_field_of_magic_2() -> None:
    expected = [b"k" * 200, b"v" * 70_000, b"header", b"x", b"none", b"last", b"y"]
    assert pieces(only(build(RECORDS))) == expected


@pytest.mark.parametrize("magic", [0, 1])
def test_key_and_value_of_a_message(magic: int) -> None:
    data = build([Record(0, -1 if magic == 0 else 5, b"key", b"value")], magic=magic)
    assert pieces(only(data)) == [b"key", b"value"]
    data = build([Record(0, -1 if magic == 0 else 5, None, b"value")], magic=magic)
    assert pieces(only(data)) == [b"value"]


@pytest.mark.parametrize("more", [-1, 1])
def test_a_message_whose_sizes_miss_its_end_is_one_piece(more: int) -> None:
    data = bytearray(build([Record(0, -1, b"key", b"value")], magic=0))
    struct.pack_into(">i", data, 25, len(b"value") + more)
    assert pieces(only(bytes(data))) == [bytes(data[18:])]


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_what_is_compressed_is_one_piece(magic: int) -> None:
    records = [Record(n, 5 if magic else -1, b"key", b"value" * 10) for n in range(3)]
    batch = only(build(records, magic=magic, compression="gzip"))
    (piece,) = pieces(batch)
    assert bytes(batch.data).endswith(piece)
    assert piece[:2] == b"\x1f\x8b"
    assert compress("gzip", b"x")[:2] == b"\x1f\x8b"


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: struct.pack_into(">i", data, 57, 4),  # one record more than there are
        lambda data: struct.pack_into(">i", data, 57, 1),  # fewer
        lambda data: data.__setitem__(61, data[61] ^ 2),  # the length of the first
        lambda data: data.__setitem__(slice(61, 71), b"\xff" * 10),
    ],
)
def test_records_that_cannot_be_told_apart_are_one_piece(damage: object) -> None:
    data = bytearray(build(RECORDS))
    damage(data)  # type: ignore[operator]
    assert pieces(only(bytes(data))) == [bytes(data[61:])]


def test_all_of_a_compressed_batch_is_payload_even_if_it_reads_as_records() -> None:
    data = bytearray(build([Record(0, 0, b"key", b"value")]))
    data[22] |= 1  # gzip
    assert pieces(only(bytes(data))) == [data[OVERHEAD:]]
