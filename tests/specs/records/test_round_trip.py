"""Any records, of any magic and codec: built and read they are the same, and broken ones are told."""

from __future__ import annotations

import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.specs import records
from barnabas.specs.codec import Malformed
from barnabas.specs.records import Record, build
from barnabas.specs.records.record_reader import record_reader
from barnabas.specs.records.record_writer import write_records
from tests.specs.records.by_kafka_python import read_by_kafka_python

INT64 = st.integers(-(2**63), 2**63 - 1)
NEAR = st.integers(-70, 9000)
"""Deltas of one byte, of two and of three."""
BINARY = st.none() | st.binary(max_size=200) | st.integers(8150, 8250).map(bytes)
HEADERS = st.lists(st.tuples(st.text(max_size=5), BINARY), max_size=3).map(tuple)
KINDS = [
    (magic, codec)
    for magic in (0, 1, 2)
    for codec in records.CODECS
    if codec != "zstd" or magic == 2
]


@st.composite
def any_records(draw: st.DrawFn, magic: int, min_size: int = 1) -> list[Record]:
    """Records of a magic, their offsets and times anywhere, and in any order."""
    base_offset = draw(INT64 | NEAR)
    base_timestamp = draw(INT64 | NEAR)
    found = []
    for _ in range(draw(st.integers(min_size, 6))):
        offset = base_offset + draw(NEAR | st.integers(-(2**29), 2**29))
        timestamp = draw(NEAR.map(base_timestamp.__add__) | INT64)
        found.append(
            Record(
                min(max(offset, -(2**63)), 2**63 - 1),
                min(max(timestamp, -(2**63)), 2**63 - 1) if magic else -1,
                draw(BINARY),
                draw(BINARY),
                draw(HEADERS) if magic == 2 else (),
            )
        )
    return found


@pytest.mark.slow("a long property")
@pytest.mark.parametrize(("magic", "codec"), KINDS)
@given(data=st.data())
def test_what_is_built_is_read(magic: int, codec: str, data: st.DataObject) -> None:
    found = data.draw(any_records(magic))
    body = build(found, magic=magic, compression=codec)
    batches = list(records.read(body))
    assert [record for batch in batches for record in batch] == found
    assert all(batch.crc_ok and batch.magic == magic for batch in batches)
    assert {batch.compression for batch in batches} == {codec}
    assert records.summary(body).trailing == 0
    assert records.rebuild(batches[0]) == body[: batches[0].size]


@given(any_records(2, 0), st.tuples(*[INT64] * 4), st.integers(-(2**31), 2**31 - 1), st.data())
def test_headers_of_magic_2_are_read_as_they_were_built(
    found: list[Record], numbers: tuple[int, int, int, int], delta: int, data: st.DataObject
) -> None:
    producer_id, base_timestamp, max_timestamp, base_offset = numbers
    header: dict[str, Any] = {
        "partition_leader_epoch": data.draw(st.integers(-(2**31), 2**31 - 1)),
        "producer_id": producer_id,
        "producer_epoch": data.draw(st.integers(-(2**15), 2**15 - 1)),
        "base_sequence": data.draw(st.integers(-(2**31), 2**31 - 1)),
        "base_offset": base_offset if not found else found[0].offset,
        "base_timestamp": base_timestamp,
        "max_timestamp": max_timestamp,
        "delete_horizon": data.draw(st.sampled_from((None, base_timestamp))),
        "is_transactional": data.draw(st.booleans()),
        "is_control": data.draw(st.booleans()),
        "timestamp_type": data.draw(st.sampled_from(("CreateTime", "LogAppendTime"))),
    }
    last_offset = min(max(header["base_offset"] + delta, -(2**63)), 2**63 - 1)
    data_built = build(found, last_offset=last_offset, **header)
    (batch,) = records.read(data_built)
    assert {name: getattr(batch, name) for name in header} == header
    assert (batch.last_offset, batch.count, batch.crc_ok) == (last_offset, len(found), True)
    assert records.rebuild(batch) == data_built or header["timestamp_type"] == "LogAppendTime"


def outcome(data: bytes, count: int, base: int, sequence: int) -> list[Any]:
    """The records as far as they go, their offsets and timestamps from a base, and the error."""
    found: list[Any] = []
    read = record_reader(sequenced=sequence >= 0)
    try:
        for record in read(data, count, base, base, sequence):
            offset, timestamp, *rest = record
            found.append(((offset - base) % 2**64, (timestamp - base) % 2**64, *rest))
    except Malformed as e:
        found.append(str(e))
    return found


@pytest.mark.slow("a long property")
@given(any_records(2), st.integers(-1, 2**31 - 1), st.data())
def test_the_quick_reader_is_the_careful_one(
    found: list[Record], sequence: int, data: st.DataObject
) -> None:
    body = bytearray(write_records(found, found[0].offset, found[0].timestamp))
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(0, min(len(body), 40) - 1))
        body[at : at + data.draw(st.integers(0, 2))] = data.draw(
            st.sampled_from((b"\x00", b"\x01", b"\x03", b"\x81\x00", b"\x80", b"\xff", b"\x7f"))
        )
    # A base this far out is one that the quick reader leaves to the careful one.
    careful = outcome(bytes(body), len(found), 1 << 62, sequence)
    assert outcome(bytes(body), len(found), 5, sequence) == careful


@pytest.mark.parametrize(
    ("count", "data"),
    [
        (2, "1a020604080002080400020404010112020002060208060100"),
        (1, "940100068001018001" + "00" * 62 + "0202020001"),
        (2, "8c0103800180017a" + "00" * 61 + "020000b2010606820108030103088801" + "00" * 64
         + "0208040204000802020608020001"),
        (1, "9e010280017e000004008001" + "00" * 61 + "0803020006000304"),
        (2, "1a01000202080103080106010100009401000002017e" + "00" * 49 + "08" + "00" * 13 + "04020204040801"),
        (1, "1a08008001800100010202010204"),
        (1, "a00106007e01800101" + "00" * 64 + "020401000802040802"),
        (1, "9a010602040078" + "00" * 58 + "0204020208040104060006020302"),
        (2, "240380010480010106030108020008020102088801040602017c" + "00" * 63),
        (1, "04000000010400000000"),
    ],
)  # fmt: skip
def test_lengths_that_fit_at_other_places_do_not_mislead_the_quick_reader(
    count: int, data: str
) -> None:
    """Contents look like lengths here, or lengths are wrong."""
    body = bytes.fromhex(data)
    assert outcome(body, count, 5, 7) == outcome(body, count, 1 << 62, 7)


@pytest.mark.parametrize("magic", [0, 1, 2])
@pytest.mark.parametrize("codec", ["none", "gzip"])
@given(data=st.data())
def test_kafka_python_reads_what_is_built(magic: int, codec: str, data: st.DataObject) -> None:
    found = [
        record._replace(offset=index, timestamp=abs(record.timestamp) % 2**48 if magic else -1)
        for index, record in enumerate(data.draw(any_records(magic)))
    ]
    assert read_by_kafka_python(build(found, magic=magic, compression=codec)) == [
        *([found] if magic == 2 or codec != "none" else [[record] for record in found])
    ]


@pytest.mark.parametrize(("magic", "codec"), [kind for kind in KINDS if kind[1] != "none"])
def test_output_is_bounded_whatever_a_set_says(magic: int, codec: str) -> None:
    limit = 1 << 16
    data = build([Record(0, -1, None, bytes(1 << 20))], magic=magic, compression=codec)
    (batch,) = records.read(data, max_output=limit)
    with pytest.raises(Malformed, match=rf"batches\[0\]\.{codec} at byte \d+: more .*output"):
        batch.records()


@pytest.mark.parametrize("magic", [0, 1])
def test_a_wrapper_inside_a_wrapper_is_not_opened(magic: int) -> None:
    """Kafka refuses it (AbstractLegacyRecordBatch.DeepRecordsIterator): no bomb in a bomb."""
    bomb = build([Record(0, -1, None, bytes(1 << 24))], magic=magic, compression="gzip")
    outer = build(
        [Record(0, -1, None, b"")],
        magic=magic,
        compression="gzip",
        compressor=lambda _: zlib.compress(bomb, wbits=31),
    )
    (batch,) = records.read(outer, max_output=1 << 16)
    with pytest.raises(Malformed, match="a wrapper inside a wrapper") as raised:
        batch.records()
    assert raised.value.path == "batches[0].gzip.records[0].attributes"
