"""Maps of frames: every field is in them, where the codecs find it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator

import pytest

from barnabas.fuzz.cases.case import Seed
from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.corpus.sources import listed
from barnabas.fuzz.frame_map.fields import FieldMap, map_of
from barnabas.fuzz.frame_map.numbers import RANGE, VARINTS, WRITE
from barnabas.fuzz.generators.messages import message, with_header
from barnabas.fuzz.mutators.splicing import splice
from barnabas.specs import REGISTRY, api
from barnabas.specs.codec import Malformed
from barnabas.specs.codec.careful_decoder import CarefulDecoder
from barnabas.specs.codec.careful_encoder import uvarint
from barnabas.specs.frames import Direction
from barnabas.specs.records.record import varint
from tests.places import GOLDEN

DIRECTIONS: tuple[Direction, ...] = ("request", "response")


def seeds() -> Iterator[Seed]:
    for key, _, _ in REGISTRY:
        for direction in DIRECTIONS:
            for version in range(api(key).versions[0], api(key).versions[1] + 1):
                yield message(key, version, direction, SeededRandom("map", version), "")


def well_made(chart: FieldMap) -> None:
    assert chart.cut == ""
    paths = [part.path for part in chart.parts]
    assert len(set(paths)) == len(paths)
    assert [chart.index[path] for path in paths] == list(range(len(paths)))
    starts = [part.start for part in chart.parts]
    assert starts == sorted(starts)
    for part in chart.parts:
        assert 0 <= part.start <= part.end <= len(chart.seed.frame)
        before = len(chart.seed.frame)
        for index in part.around:
            about = chart.parts[index]
            assert about.kind in ("length", "count", "crc")
            assert about.end <= min(part.start, before)
            before = about.start
        same = chart.seed.frame[part.start : part.end]
        size = len(chart.seed.frame).to_bytes(4, "big")
        assert splice(chart, part, same) == size + chart.seed.frame


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_golden_messages_are_mapped_whole(direction: Direction) -> None:
    for seed in listed(GOLDEN / "golden-a.jsonl.gz", direction):
        newest = seed.version >= api(seed.key).versions[1] - 1
        if newest and seed.origin.endswith(("full", "random-0", "nulls-all")):
            well_made(map_of(seed))


def test_generated_messages_are_mapped_whole_and_the_bytes_of_their_fields_are_all_there() -> None:
    """Leaves and numbers about others are side by side, from the first byte to the last."""
    holders = {"frame", "struct", "array", "tags", "tag", "batch", "record", "header", "records"}
    for seed in seeds():
        chart = map_of(seed)
        well_made(chart)
        at = 0
        for part in chart.parts:
            if part.kind in holders and not (part.kind == "records" and part.end > part.start):
                continue
            if part.kind == "records":
                following = chart.parts[chart.index[part.path] + 1 :]
                if following and following[0].kind == "batch":
                    continue
            assert part.start == at, (part, seed)
            at = part.end
        assert at == len(seed.frame)


def test_of_a_malformed_frame_there_is_what_can_be_read() -> None:
    frame = bytes.fromhex("0003 0001 00000007 0001 61 7fffffff 0001")
    chart = map_of(Seed(3, 1, "request", frame, ""))
    assert "2147483647 elements" in chart.cut
    assert chart.parts[-1].path == "header.client_id"


def test_record_sets_of_kafka_are_mapped_to_their_ends() -> None:
    looked = 0
    with gzip.open(GOLDEN / "records-a.jsonl.gz", "rt") as lines:
        for line in lines:
            golden = json.loads(line)
            records = bytes.fromhex(golden["hex"])
            values = {"topic_data": [{"name": "t", "partition_data": [{"records": records}]}]}
            try:
                body = api(0).request.codec(7).encode({"acks": 1, "timeout_ms": 1} | values)
            except (Malformed, ValueError):
                continue
            chart = map_of(with_header(0, 7, "request", body, golden["case"]))
            well_made(chart)
            batches = [part for part in chart.parts if part.kind == "batch"]
            assert len(batches) == len(golden["json"]["batches"])
            for part, batch in zip(batches, golden["json"]["batches"], strict=True):
                assert part.end - part.start == batch["sizeInBytes"]
                if batch["magic"] == 2 and batch["compression"].lower() == "none":
                    own = f"{part.path}.records["
                    records_found = [
                        p for p in chart.parts if p.kind == "record" and p.path.startswith(own)
                    ]
                    assert len(records_found) == len(batch["records"])
                    looked += 1
    assert looked


@pytest.mark.parametrize("value", [0, 1, 127, 128, 300, 16383, 16384, 2**31 - 1, -1, -(2**31)])
def test_varints_are_read_back_in_their_shortest_form(value: int) -> None:
    reader = CarefulDecoder(uvarint(value))
    assert reader.varint("") == value
    assert reader.oddities == []
    assert varint(WRITE["varint"](value), 0, "")[0] == value
    assert varint(WRITE["varlong"](value << 31), 0, "", bits=64)[0] == value << 31


@pytest.mark.parametrize("coding", VARINTS)
def test_no_number_takes_more_bytes_than_kafka_reads(coding: str) -> None:
    for value in (*RANGE[coding], 0, -1):
        assert len(WRITE[coding](value)) <= VARINTS[coding]
