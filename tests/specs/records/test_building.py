"""What is built reads as it was meant: in ours, and in kafka-python; golden sets built again."""

from __future__ import annotations

import gzip
import json
import random
import struct
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specs import records
from specs.codec import Malformed, Unfit
from specs.records import Batch, Record, build, rebuild, with_crc

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # of its imports
    from kafka.record import MemoryRecords

GOLDEN = Path(__file__).parents[2] / "golden" / "records-a.jsonl.gz"
with gzip.open(GOLDEN, "rt") as lines:
    SETS: list[dict[str, Any]] = [json.loads(line) for line in lines]

COMPUTED = ("crc", "size", "position", "index")
"""What of a batch may differ when it is compressed again."""


def facts(batch: Batch) -> dict[str, Any]:
    names = [name for name in Batch.__dataclass_fields__ if name not in (*COMPUTED, "data")]
    return {name: getattr(batch, name) for name in names}


@pytest.mark.parametrize("golden", SETS, ids=lambda golden: golden["case"])
def test_golden_sets_are_built_again(golden: dict[str, Any]) -> None:
    data = bytes.fromhex(golden["hex"])
    batches = list(records.read(data))
    again = b"".join(map(rebuild, batches))
    built = list(records.read(again))
    assert list(map(facts, built)) == list(map(facts, batches))
    assert [batch.records() for batch in built] == [batch.records() for batch in batches]
    assert all(batch.crc_ok for batch in built)
    for old, new in zip(batches, built, strict=True):
        # what was not compressed has the same bytes, but where reading lost the records' own times
        if old.compression == "none" and (old.magic < 2 or old.timestamp_type == "CreateTime"):
            assert bytes(new.data) == bytes(old.data)


@pytest.mark.parametrize("golden", SETS, ids=lambda golden: golden["case"])
def test_kafka_python_reads_what_is_built_again(golden: dict[str, Any]) -> None:
    batches = list(records.read(bytes.fromhex(golden["hex"])))
    for batch in batches:
        theirs = MemoryRecords(rebuild(batch)).next_batch()
        assert theirs.validate_crc()
        found = [(r.offset, r.timestamp, r.key, r.value, tuple(r.headers)) for r in theirs]
        ours = [
            (r.offset, None if batch.magic == 0 else r.timestamp, r.key, r.value, r.headers)
            for r in batch
        ]
        assert found == ours


BINARY = st.none() | st.binary(max_size=200)
RECORDS = st.lists(
    st.tuples(
        st.integers(0, 50),
        st.integers(0, 2**40),
        BINARY,
        BINARY,
        st.lists(st.tuples(st.text(max_size=5), BINARY), max_size=3).map(tuple),
    ),
    min_size=1,
    max_size=8,
)


def made(drawn: list[Any], magic: int) -> list[Record]:
    offset, found = -1, []
    for gap, timestamp, key, value, headers in drawn:
        offset += 1 + gap
        time = timestamp if magic else -1
        found.append(Record(offset, time, key, value, headers if magic == 2 else ()))
    return found


@settings(max_examples=150, deadline=None)
@given(RECORDS, st.integers(0, 2), st.sampled_from(records.CODECS))
def test_any_records_in_any_magic_and_codec(drawn: list[Any], magic: int, codec: str) -> None:
    given_records = made(drawn, magic)
    if codec == "zstd" and magic < 2:
        with pytest.raises(Unfit, match="has no codec zstd"):
            build(given_records, magic=magic, compression=codec)
        return
    data = build(given_records, magic=magic, compression=codec)
    batches = list(records.read(data))
    assert [record for batch in batches for record in batch] == given_records
    assert all(batch.crc_ok and batch.magic == magic for batch in batches)
    assert records.summary(data).trailing == 0


@settings(max_examples=300, deadline=None)
@given(RECORDS, st.integers(0, 2), st.sampled_from(records.CODECS[:4]), st.data())
def test_a_mutated_set_is_read_or_refused(
    drawn: list[Any], magic: int, codec: str, data: st.DataObject
) -> None:
    body = bytearray(build(made(drawn, magic), magic=magic, compression=codec))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(body) - 1))
        body[at] = data.draw(st.integers(0, 255))
    del body[data.draw(st.integers(0, len(body))) :]
    try:
        for batch in records.read(bytes(body)):
            assert isinstance(batch.crc_ok, bool)
            batch.records()
    except Malformed:
        pass


def test_an_idempotent_producers_batch() -> None:
    found = [Record(i, 1000 + i, None, b"x", sequence=2**31 - 2 + i & 2**31 - 1) for i in range(4)]
    data = build(found, producer_id=7, producer_epoch=3, base_sequence=2**31 - 2)
    (batch,) = records.read(data)
    assert batch.records() == tuple(found)
    assert (batch.producer_id, batch.producer_epoch, batch.last_sequence) == (7, 3, 1)


def test_a_transaction_and_its_marker() -> None:
    data = build([Record(5, 1, b"k", b"v")], is_transactional=True, producer_id=1)
    marker = Record(6, 2, records.control_key("COMMIT"), records.marker_value(9))
    data += build([marker], is_transactional=True, is_control=True, producer_id=1)
    body, end = records.read(data)
    assert (body.is_transactional, body.is_control) == (True, False)
    assert (end.is_transactional, end.is_control) == (True, True)
    (read,) = end.records()
    assert records.control_type(read) == "COMMIT"
    assert records.coordinator_epoch(read) == 9


def test_what_compaction_leaves() -> None:
    empty = build([], base_offset=100, last_offset=109, base_timestamp=5, max_timestamp=8)
    (batch,) = records.read(empty)
    assert (batch.base_offset, batch.last_offset, batch.count, batch.records()) == (100, 109, 0, ())
    gaps = [Record(3, 50, b"a", None), Record(17, 60, b"b", None)]
    data = build(gaps, base_offset=0, last_offset=20, delete_horizon=10)
    (batch,) = records.read(data)
    assert batch.delete_horizon == 10
    assert (batch.base_offset, batch.last_offset, batch.records()) == (0, 20, tuple(gaps))


def test_append_time_stands_in_for_every_timestamp() -> None:
    found = [Record(0, 10, None, b"a"), Record(1, 20, None, b"b")]
    for magic in (1, 2):
        data = build(
            found, magic=magic, compression="gzip", timestamp_type="LogAppendTime", max_timestamp=99
        )
        (batch,) = records.read(data)
        assert [record.timestamp for record in batch] == [99, 99]


def test_wrappers_have_absolute_offsets_in_magic_0_and_relative_ones_in_magic_1() -> None:
    found = [Record(70, -1, None, b"a"), Record(72, -1, None, b"b")]
    for magic, inside in ((0, 70), (1, 0)):
        (batch,) = records.read(build(found, magic=magic, compression="gzip"))
        assert batch.last_offset == 72
        assert [record.offset for record in batch] == [70, 72]
        value = bytes(batch.data)[-(batch.size - 26 - 8 * magic) :]
        inner = records.decompress("gzip", value)
        assert int.from_bytes(inner[:8]) == inside


def test_part_of_a_batch_at_the_end_is_cut_off_as_fetch_does() -> None:
    one = build([Record(0, 0, None, b"a")])
    two = build([Record(1, 0, None, b"b")])
    for size in range(len(two)):
        data = one + two[:size]
        assert [batch.base_offset for batch in records.read(data)] == [0]
        assert records.summary(data).trailing == size


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_a_checksum_is_repaired(magic: int) -> None:
    data = build([Record(0, 5 if magic else -1, None, b"abc")], magic=magic)
    changed = data.replace(b"abc", b"abd")
    assert [batch.crc_ok for batch in records.read(changed)] == [False]
    mended = with_crc(changed)
    assert [(b.crc_ok, b.records()[0].value) for b in records.read(mended)] == [(True, b"abd")]


TEXT: Any = "text"
NUMBER: Any = 5

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"compression": "brotli"}, "compression: 'brotli' is none of none, gzip"),
    ({"magic": 3}, "magic: 0, 1 or 2, not 3"),
    ({"base_offset": 2**40}, "records[0].offset: 0 is too far from"),
    ({"producer_id": 2**63}, "header: "),
    ({"records": [Record(0, 2**70, None, b"")], "base_timestamp": 0}, "records[0]: "),
    ({"records": [Record(0, 0, TEXT, None)]}, "records[0]: "),
    ({"records": [Record(0, 0, b"", b""), Record(1, 0, None, NUMBER)]}, "records[1]: "),
    ({"records": [Record(0, 0, None, None, ((NUMBER, b""),))]}, "records[0]: "),
    ({"records": [], "magic": 1, "compression": "gzip"}, "records: a wrapper without a message"),
    ({"records": [Record(2**63, 0, None, None)], "magic": 1}, "records[0]: "),
]


@pytest.mark.parametrize(("changes", "problem"), WRONG)
def test_what_does_not_fit_is_named(changes: dict[str, Any], problem: str) -> None:
    found = changes.pop("records", [Record(0, 0, None, b"a")])
    with pytest.raises(Unfit) as caught:
        build(found, **changes)
    assert str(caught.value).startswith(problem)


@pytest.mark.parametrize("codec", records.CODECS)
@pytest.mark.parametrize("magic", [0, 1, 2])
def test_output_is_bounded_whatever_a_set_says(magic: int, codec: str) -> None:
    if codec == "none" or (codec == "zstd" and magic < 2):
        return
    data = build([Record(0, -1, None, bytes(1 << 20))], magic=magic, compression=codec)
    (batch,) = records.read(data, max_output=1 << 16)
    with pytest.raises(Malformed, match="output"):
        batch.records()


def test_raw_snappy_is_read_too() -> None:
    packed = records.raw_snappy(b"abc" * 100)
    assert records.decompress("snappy", packed) == b"abc" * 100


def lz4_header(batch: Batch) -> bytes:
    return bytes(batch.data)[{0: 26, 1: 34, 2: 61}[batch.magic] :][:7]


def test_lz4_frames_begin_as_kafka_writes_them_with_the_odd_checksum_of_magic_0() -> None:
    seen = set()
    for golden in SETS:
        if "blocksize" in golden["case"] or "correct-hc" in golden["case"]:
            continue  # written with other settings
        for batch in records.read(bytes.fromhex(golden["hex"])):
            if batch.compression == "lz4" and batch.count != 0:
                (again,) = records.read(rebuild(batch))
                assert lz4_header(again) == lz4_header(batch)
                seen.add((batch.magic, lz4_header(batch)[6]))
    assert len(seen) == 3
    assert len({checksum for magic, checksum in seen if magic}) == 1
    assert len({checksum for _, checksum in seen}) == 2


def test_lz4_blocks_that_do_not_shrink_stay_as_they_are() -> None:
    noise = random.Random(1).randbytes(3 << 16)
    frame = records.compress("lz4", noise)
    assert frame[7:11] == struct.pack("<I", (1 << 16) | (1 << 31))
    assert len(frame) == len(noise) + 3 * 4 + 7 + 4
    assert records.decompress("lz4", frame) == noise


def test_offsets_may_go_back_within_a_batch() -> None:
    found = [Record(9, 100, None, b"a"), Record(7, 90, None, b"b")]
    (batch,) = records.read(build(found, base_offset=8, last_offset=9))
    assert batch.records() == tuple(found)


@pytest.mark.parametrize("size", [63, 64, 8185, 8192, 100_000, 3_000_000])
def test_records_of_any_size(size: int) -> None:
    found = [Record(0, 0, bytes(size), b""), Record(1, 2**40, None, bytes(size))]
    found.append(Record(2, 0, b"k", None, (("h", bytes(size)),)))
    (batch,) = records.read(build(found))
    assert batch.records() == tuple(found)


def test_a_record_of_negative_length_is_refused() -> None:
    data = bytearray(build([Record(0, 0, None, b"abcdef")]))
    assert data[61] == 2 * 12
    data[61] = 2 * 12 + 1
    (batch,) = records.read(bytes(data))
    with pytest.raises(Malformed, match=r"records\[0\].length"):
        batch.records()
