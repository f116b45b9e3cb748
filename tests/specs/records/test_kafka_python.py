"""kafka-python reads the golden sets of magic 1 and 2 as we do, where it needs no native codec."""

from __future__ import annotations

import gzip
import json
import warnings
from typing import Any

import pytest

from barnabas.specs import records
from tests import places

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # of its imports
    from kafka.record import MemoryRecords

GOLDEN = places.GOLDEN / "records-a.jsonl.gz"
PREFIXES = ("magic1-none", "magic1-gzip", "magic2-none", "magic2-gzip")
with gzip.open(GOLDEN, "rt") as lines:
    SETS: list[dict[str, Any]] = [
        case for line in lines if (case := json.loads(line))["case"].startswith(PREFIXES)
    ]


@pytest.mark.parametrize("golden", SETS, ids=lambda golden: golden["case"])
def test_kafka_python_agrees(golden: dict[str, Any]) -> None:
    data = bytes.fromhex(golden["hex"])
    theirs = MemoryRecords(data)
    for batch in records.read(data):
        other = theirs.next_batch()
        assert other.validate_crc() is batch.crc_ok
        assert [(r.offset, r.timestamp, r.key, r.value, tuple(r.headers)) for r in other] == [
            (r.offset, r.timestamp, r.key, r.value, r.headers) for r in batch
        ]
    assert theirs.next_batch() is None
