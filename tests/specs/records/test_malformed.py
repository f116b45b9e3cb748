"""What Kafka 4.4.0 accepts is accepted here, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.specs import records
from barnabas.specs.malformed import Malformed
from tests.golden.frames import golden_lines

SETS = {case["case"]: case for case in golden_lines("malformed") if case["kind"] == "records"}

ERRORS = (
    ("magic-3", "batches[0].magic at byte 16: magic 0, 1 or 2, not 3"),
    ("v2-size-13", "batches[0].size at byte 8: 14 to 2147483635, not 13"),
    ("v2-size-2147483647", "batches[0].size at byte 8: 14 to 2147483635, not 2147483647"),
    ("v2-size-48", "batches[0].size at byte 8: at least 49 in magic 2, not 48"),
    ("v2-count-max", "batches[0].records at byte 61: 2147483647 records announced, 326 bytes remain"),
    ("v2-count-minus1", "batches[0].records at byte 258: 129 bytes after the last of 4 records"),
    ("rec-key-len-overrun", "batches[0].records[0].key at byte 65: 32 bytes announced, 4 remain"),
    ("rec-header-key-null", "batches[0].records[0].headers[0].key at byte 70: a length below zero"),
    ("v2-lz4-payload-truncated", "batches[0].lz4 at byte 68: a block of 1668 bytes announced, 1657 remain"),
    (
        "v2-snappy-corrupt",
        "batches[0].snappy.records[0].length at byte 0: -1476395008 bytes announced, 5087 remain",
    ),
    ("v1-wrapper-in-wrapper", "batches[0].gzip.records[0].attributes at byte 17: a wrapper inside a wrapper"),
    ("v1-key-len-overrun", "batches[0].key at byte 26: 1000 bytes announced, 40 remain"),
    ("good-then-garbage-17", "batches[1].size at byte 395: 14 to 2147483635, not 5"),
)  # fmt: skip


def _read(data: bytes) -> dict[str, Any]:
    """What the golden file holds of a set: to be accepted, checksums and control keys must do."""
    count = 0
    crcs = []
    for batch in records.read(data):
        crcs.append(batch.crc_ok)
        for record in batch:
            count += 1
            if batch.is_control:
                records.control_type(record)
    if not all(crcs):
        return {"accepted": False}
    summary = records.summary(data)
    valid = summary.size - summary.trailing
    return {"accepted": True, "validBytes": valid, "batches": len(crcs), "records": count}


@pytest.mark.parametrize("case", SETS)
def test_verdict(case: str) -> None:
    data, expected = bytes.fromhex(SETS[case]["hex"]), SETS[case]["4.4.0"]
    try:
        verdict = _read(data)
    except Malformed:
        verdict = {"accepted": False}
    assert verdict == (expected if expected["accepted"] else {"accepted": False})
    assert records.summary(data).size == len(data)  # which never raises


@pytest.mark.parametrize(("case", "error"), ERRORS)
def test_errors_say_where_and_why(case: str, error: str) -> None:
    with pytest.raises(Malformed) as raised:
        _read(bytes.fromhex(SETS[case]["hex"]))
    assert str(raised.value) == error
    path, _, rest = error.partition(" at byte ")
    assert (raised.value.path, raised.value.offset) == (path, int(rest.partition(":")[0]))


def test_what_comes_before_a_malformed_batch_is_read() -> None:
    data = bytes.fromhex(SETS["good-then-garbage-17"]["hex"])
    batches = records.read(data)
    assert len(next(batches).records()) == 5
    with pytest.raises(Malformed):
        next(batches)
    assert records.summary(data) == records.Summary(1, 5, 404, (), 17, 5_000_000_288)
