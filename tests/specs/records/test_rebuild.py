"""Every record set that Kafka's own classes wrote, read and built again."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.specs import records
from barnabas.specs.records import Batch, rebuild
from barnabas.specs.records.message_set import read_message
from tests.golden.frames import record_sets

SETS = record_sets()

COMPUTED = ("crc", "size", "position", "data")
"""What of a batch may differ when it is compressed again."""

OTHER_CONTENT = {
    "magic0-gzip-wrapper-with-key": "no reader is shown a wrapper's key",
    "magic1-gzip-wrapper-with-key": "no reader is shown a wrapper's key",
    "magic1-gzip-wrapper-inner-from-700-outer-900": "inside, offsets are counted from 0",
    "magic1-gzip-wrapper-logappend": "the inner messages had other times, which LogAppendTime hides",
} | {
    case: "the deltas were of other times, which LogAppendTime hides"
    for case in SETS
    if case.startswith("magic2") and "LogAppendTime" in case
}
"""Sets with other bytes than Kafka's even before they are compressed, and why."""


def facts(batch: Batch) -> dict[str, Any]:
    names = [name for name in Batch.__dataclass_fields__ if name not in COMPUTED]
    return {name: getattr(batch, name) for name in names}


@pytest.mark.parametrize("case", SETS)
def test_it_reads_the_same(case: str) -> None:
    batches = list(records.read(SETS[case]))
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
        for case, data in SETS.items()
        for batch in records.read(data)
        for again in records.read(rebuild(batch))
        if content(batch) != content(again)
    }
    assert others == set(OTHER_CONTENT)
    assert (len(SETS), len(others)) == (325, 49)


def test_uncompressed_sets_are_the_same_bytes_again() -> None:
    same: set[str] = set()
    others: set[str] = set()
    for case, data in SETS.items():
        batches = list(records.read(data))
        if all(batch.compression == "none" for batch in batches):
            whole = data[: len(data) - records.summary(data).trailing]
            (same if b"".join(map(rebuild, batches)) == whole else others).add(case)
    assert others == {case for case in OTHER_CONTENT if case.startswith("magic2-none")}
    assert (len(same), len(others)) == (70, 9)
