"""What a splice puts right, and what it leaves if told to."""

from __future__ import annotations

import pytest

from barnabas.fuzz.frame_map.fields import FieldMap, Part, map_of
from barnabas.fuzz.frame_map.numbers import WRITE
from barnabas.fuzz.generators.messages import with_header
from barnabas.fuzz.mutators.splicing import (
    ALL,
    CHECKSUM,
    CHECKSUMS,
    COUNTS,
    LENGTHS,
    SIZE,
    splice,
)
from barnabas.specs import api
from barnabas.specs.frames import decode_frame
from barnabas.specs.records import Record, build, read


def produce(magic: int) -> FieldMap:
    stamp = 5 if magic else -1
    records = build([Record(0, stamp, b"k", b"v"), Record(1, stamp, b"k", b"w")], magic=magic)
    topic = {"name": "t", "partition_data": [{"index": 0, "records": records}]}
    body = api(0).request.codec(9).encode({"acks": 1, "timeout_ms": 1, "topic_data": [topic]})
    return map_of(with_header(0, 9, "request", body, ""))


def records_of(chunk: bytes) -> bytes:
    assert int.from_bytes(chunk[:4], "big") == len(chunk) - 4
    body = decode_frame(chunk[4:], "request").body
    found = body["topic_data"][0]["partition_data"][0]["records"]
    assert isinstance(found, bytes)
    return found


def plainly(chart: FieldMap, part: Part, end: int, new: bytes, elements: int, mend: int) -> bytes:
    """The same as `splice`, one number after the other in a copy of the frame."""
    data = bytearray(chart.seed.frame)
    data[part.start : end] = new
    grown = len(new) - (end - part.start)
    for index in part.around:
        about = chart.parts[index]
        value = about.value
        if about.kind == "crc":
            if mend & CHECKSUMS:
                covered = bytes(data[about.end : about.until + grown])
                data[about.start : about.end] = CHECKSUM[about.coding](covered).to_bytes(4, "big")
            continue
        if about.kind == "count":
            value, wanted, elements = value + elements, mend & COUNTS and elements, 0
        else:
            value, wanted = value + grown, mend & LENGTHS and grown
        if wanted:
            text = WRITE[about.coding](value)
            grown += len(text) - (about.end - about.start)
            data[about.start : about.end] = text
    size = len(data) if mend & SIZE else len(chart.seed.frame)
    return size.to_bytes(4, "big") + data


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_a_splice_is_what_mending_number_by_number_comes_to(magic: int) -> None:
    chart = produce(magic)
    for part in chart.parts:
        size = part.end - part.start
        for new in (b"", bytes(size), b"!" * (size + 1), b"!" * (size + 200)):
            for mend in (ALL, ALL - LENGTHS, ALL - COUNTS, ALL - CHECKSUMS, ALL - SIZE):
                for elements in (0, 1, 300):
                    made = splice(chart, part, new, elements, mend)
                    assert made == plainly(chart, part, part.end, new, elements, mend), part.path


@pytest.mark.parametrize("magic", [0, 1, 2])
@pytest.mark.parametrize("size", [0, 1, 2, 50, 63, 64, 100, 8000, 20_000])
def test_a_value_of_another_size_moves_every_length_around_it(size: int, magic: int) -> None:
    """Of the record, the batch, the compact field and the frame, though they grow themselves."""
    chart = produce(magic)
    part = next(part for part in chart.parts if part.path.endswith("records[0].value"))
    batches = list(read(records_of(splice(chart, part, b"z" * size))))
    assert all(batch.crc_ok for batch in batches)
    assert [record.value for batch in batches for record in batch] == [b"z" * size, b"w"]
