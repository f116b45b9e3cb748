"""Generated messages are valid: both back-ends of specs read all of them, and write the same bytes."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas import specs
from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.generators.messages import message
from barnabas.fuzz.generators.values import SHAPES, Shape
from barnabas.specs.frames import Direction, decode_frame, encode_frame, frame_body
from barnabas.specs.records import read

MESSAGES = [
    pytest.param(name, direction, id=f"{name}-{direction}")
    for _, name, _ in specs.REGISTRY
    for direction in ("request", "response")
]


@pytest.mark.parametrize(("name", "direction"), MESSAGES)
def test_they_are_read_and_written_by_both_back_ends(name: str, direction: Direction) -> None:
    api = specs.api(name)
    for version in range(api.versions[0], api.versions[1] + 1):
        codec = api.message(direction).codec(version)
        reference = api.message(direction).at(version)
        for number in range(4):
            seed = message(api.key, version, direction, SeededRandom(name, number), "")
            frame = decode_frame(seed.frame, direction, key=api.key, version=version)
            body = frame_body(seed.frame, frame)
            assert encode_frame(frame)[4:] == seed.frame
            assert codec.inspect(body) == (frame.body, [])
            assert reference.build(frame.body) == body
            assert reference.build(reference.parse(body)) == body


@pytest.mark.parametrize("version", range(14))
def test_record_sets_are_valid(version: int) -> None:
    sets = 0
    for number in range(40):
        seed = message(0, version, "request", SeededRandom("records", number), "")
        body = decode_frame(seed.frame, "request").body
        for topic in body["topic_data"]:
            for partition in topic["partition_data"]:
                if partition["records"] is None:
                    continue
                sets += 1
                batches = list(read(partition["records"]))
                assert batches
                for batch in batches:
                    assert batch.crc_ok
                    assert batch.records()
                    assert batch.magic == (0 if version < 2 else 1 if version < 3 else 2)
    assert sets > 5


def test_messages_come_in_shapes() -> None:
    def body(shape: Shape, number: int) -> dict[str, Any]:
        seed = message(3, 12, "response", SeededRandom("h", number), "", shape)
        return decode_frame(seed.frame, "response", key=3, version=12).body

    every, whole, several, bare = ([body(shape, n) for n in range(30)] for shape in SHAPES)
    assert {len(body["topics"]) for body in whole} == {1}
    assert {len(body["topics"][0]["partitions"]) for body in whole} == {1}
    assert not any(
        body["cluster_id"] is None or body["brokers"][0]["rack"] is None for body in whole
    )
    assert {len(body["brokers"]) for body in several} == {2, 3}
    assert all(body["cluster_id"] is None and body["brokers"][0]["rack"] is None for body in bare)
    assert {len(body["topics"]) for body in every} >= {0, 1, 2}
