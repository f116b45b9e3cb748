"""Every record set that Kafka's own classes wrote reads as they read it."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.specs import records
from barnabas.specs.records import Batch, Record
from tests.golden.frames import golden_lines

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
            fields["coordinatorEpoch"] = records.coordinator_epoch(record)
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
