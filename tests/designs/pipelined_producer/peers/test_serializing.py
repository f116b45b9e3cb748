"""How large things become: each part that is counted beside the parts of real requests."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.designs.dialogue import Dialogue
from barnabas.designs.pipelined_producer.peers.serializing import (
    BATCH,
    PARTITION,
    PLAIN,
    RECORD,
    known_size,
    record_size,
)
from barnabas.specs.keys import PRODUCE
from barnabas.specs.records import Record, build

VERSIONS = range(13)


def size(version: int, topics: list[dict[str, Any]]) -> int:
    """Bytes of a request, its client id left out."""
    body = {"acks": -1, "timeout_ms": 1, "topic_data": topics}
    return len(Dialogue("me").ask(PRODUCE, version, body)) - 2


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("length", [0, 100, 1 << 21])
def test_a_partition_around_its_batch_is_no_larger_than_counted(version: int, length: int) -> None:
    topic = "t" * 249
    parts = [{"index": 1 << 30, "records": bytes(length)}]
    whole = size(version, [{"name": topic, "partition_data": parts}])
    assert whole - size(version, []) <= PARTITION + len(topic) + length


@pytest.mark.parametrize(("magic", "header"), [(0, 0), (1, 0), (2, BATCH)])
def test_a_batch_is_no_larger_than_its_records_and_its_header(magic: int, header: int) -> None:
    stamps = (0, (1 << 62) - 1) if magic else (-1, -1)
    records = [Record(number, stamps[number], b"k" * 70, bytes(1 << 21)) for number in range(2)]
    assert len(build(records[:0], magic=magic)) <= header
    whole = len(build(records, magic=magic))
    assert whole <= header + 2 * record_size(b"k" * 70, bytes(1 << 21))
    assert magic != 1 or whole == 2 * (RECORD + 70 + (1 << 21))


@pytest.mark.parametrize("text", ["", "a", "ä", "\N{GRINNING FACE}", "a" * 1000 + "ä"])
def test_what_is_known_of_text_is_what_it_takes(text: str) -> None:
    data = text.encode()
    assert known_size(text, data, PLAIN) == record_size(data, data)


def test_text_that_is_no_utf_8_is_counted_too() -> None:
    """What is wrong with it is said by the send thread, as of anything that can't be serialised."""
    assert known_size("\ud800", 5, PLAIN) == RECORD + 3
