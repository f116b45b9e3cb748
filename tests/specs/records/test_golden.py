"""Every record set that Kafka's own classes wrote reads as they read it."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.specs import records
from barnabas.specs.embedded import read_control_record
from barnabas.specs.records import Batch, Record, rebuild
from barnabas.specs.records.message_set import read_message
from tests.golden.frames import golden_lines, record_sets

SETS = golden_lines("records-a")

NAMES = {
    "sizeInBytes": "size",
    "lastOffset": "last_offset",
    "timestampType": "timestamp_type",
    "maxTimestamp": "max_timestamp",
    **{name: name for name in ("position", "magic", "crc", "compression", "count")},
}
"""name in the golden JSON -> attribute of Batch"""

MAGIC_2_ONLY = {
    "attributes": "attributes",
    "baseTimestampRaw": "base_timestamp",
    "partitionLeaderEpoch": "partition_leader_epoch",
    "producerId": "producer_id",
    "producerEpoch": "producer_epoch",
    "baseSequence": "base_sequence",
    "lastSequence": "last_sequence",
    "isTransactional": "is_transactional",
    "isControlBatch": "is_control",
    "deleteHorizonMs": "delete_horizon",
}


def _hex(data: bytes | None) -> str | None:
    return None if data is None else data.hex()


def _record_json(batch: Batch, record: Record) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "key": _hex(record.key),
        "value": _hex(record.value),
    }
    if batch.magic > 1:
        fields["headers"] = [[key, _hex(value)] for key, value in record.headers]
    if record.sequence >= 0:
        fields["sequence"] = record.sequence
    if batch.is_control:
        fields["controlType"] = records.control_type(record)
        if fields["controlType"] in ("COMMIT", "ABORT"):
            value = read_control_record(record.key, record.value).value.values
            fields["coordinatorEpoch"] = value["coordinator_epoch"]
    return fields


def _batch_json(batch: Batch) -> dict[str, Any]:
    read = batch.records()
    # Kafka finds the first offset of a wrapper by opening it, too.
    first = read[0].offset if batch.base_offset is None else batch.base_offset
    names = NAMES | (MAGIC_2_ONLY if batch.magic > 1 else {})
    fields = {name: getattr(batch, attribute) for name, attribute in names.items()}
    if batch.magic > 1:
        fields["lastOffsetDelta"] = batch.last_offset - first
        if batch.delete_horizon is None:
            del fields["deleteHorizonMs"]
    else:
        fields["outer"] = {
            "offset": batch.last_offset,
            "size": batch.size - 12,
            "attributes": batch.attributes,
        }
        if batch.magic == 1:
            fields["outer"]["timestamp"] = batch.max_timestamp
    return fields | {
        "baseOffset": first,
        "nextOffset": batch.last_offset + 1,
        "records": [_record_json(batch, record) for record in read],
    }


@pytest.mark.parametrize("golden", SETS, ids=lambda golden: golden["case"])
def test_golden_set(golden: dict[str, Any]) -> None:
    data = bytes.fromhex(golden["hex"])
    batches = list(records.read(memoryview(data)))
    summary = records.summary(data)
    assert {
        "sizeInBytes": summary.size,
        "validBytes": summary.size - summary.trailing,
        "batches": [_batch_json(batch) for batch in batches],
    } == golden["json"]
    assert all(batch.crc_ok for batch in batches)


@pytest.mark.parametrize("golden", SETS, ids=lambda golden: golden["case"])
def test_summary_agrees_with_the_records(golden: dict[str, Any]) -> None:
    summary = records.summary(bytes.fromhex(golden["hex"]))
    batches = golden["json"]["batches"]
    compressed = [b["compression"] for b in batches if b["compression"] != "none"]
    wrappers = any(b["magic"] < 2 and b["compression"] != "none" for b in batches)
    assert summary.batches == len(batches)
    assert summary.records == (None if wrappers else sum(len(b["records"]) for b in batches))
    assert summary.codecs == tuple(dict.fromkeys(compressed))


KAFKAS_SETS = record_sets()


COMPUTED = ("crc", "size", "position", "data")


"""What of a batch may differ when it is compressed again."""


OTHER_CONTENT = {
    "magic0-gzip-wrapper-with-key": "no reader is shown a wrapper's key",
    "magic1-gzip-wrapper-with-key": "no reader is shown a wrapper's key",
    "magic1-gzip-wrapper-inner-from-700-outer-900": "inside, offsets are counted from 0",
    "magic1-gzip-wrapper-logappend": "the inner messages had other times, which LogAppendTime hides",
} | {
    case: "the deltas were of other times, which LogAppendTime hides"
    for case in KAFKAS_SETS
    if case.startswith("magic2") and "LogAppendTime" in case
}


"""Sets with other bytes than Kafka's even before they are compressed, and why."""


def facts(batch: Batch) -> dict[str, Any]:
    names = [name for name in Batch.__dataclass_fields__ if name not in COMPUTED]
    return {name: getattr(batch, name) for name in names}


@pytest.mark.parametrize("case", KAFKAS_SETS)
def test_it_reads_the_same(case: str) -> None:
    batches = list(records.read(KAFKAS_SETS[case]))
    built = list(records.read(b"".join(map(rebuild, batches))))
    assert list(map(facts, built)) == list(map(facts, batches))
    assert [batch.records() for batch in built] == [batch.records() for batch in batches]
    assert all(batch.crc_ok for batch in built)


def content(batch: Batch) -> tuple[Any, ...]:
    """A batch's bytes before compression, less its length and checksum."""
    data = bytes(batch.data)
    if batch.magic == 2:
        inside = records.decompress(batch.compression, data[61:]) if batch.count else b""
        return data[:8], data[12:17], data[21:61], inside
    message = read_message(data, 0, path="")
    value = records.decompress(batch.compression, message.value or b"", magic=batch.magic)
    return message._replace(size=0, crc=0, value=value)


def test_what_is_compressed_is_the_same_bytes_again() -> None:
    others = {
        case
        for case, data in KAFKAS_SETS.items()
        for batch in records.read(data)
        for again in records.read(rebuild(batch))
        if content(batch) != content(again)
    }
    assert others == set(OTHER_CONTENT)
    assert (len(KAFKAS_SETS), len(others)) == (325, 49)


def test_uncompressed_sets_are_the_same_bytes_again() -> None:
    same: set[str] = set()
    others: set[str] = set()
    for case, data in KAFKAS_SETS.items():
        batches = list(records.read(data))
        if all(batch.compression == "none" for batch in batches):
            whole = data[: len(data) - records.summary(data).trailing]
            (same if b"".join(map(rebuild, batches)) == whole else others).add(case)
    assert others == {case for case in OTHER_CONTENT if case.startswith("magic2-none")}
    assert (len(same), len(others)) == (70, 9)
