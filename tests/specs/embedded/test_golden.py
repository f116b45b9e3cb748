"""Every message of data that Kafka's own classes wrote: reference, codec and careful reader agree."""

from __future__ import annotations

import pytest

from barnabas.specs import embedded
from barnabas.specs.codec.careful_encoder import encode_carefully
from tests.golden.definitions import DEFINITIONS
from tests.golden.frames import Line, from_kafka_json, golden_codec, golden_frames, golden_message

FRAMES: dict[tuple[str, int], list[Line]] = {}
for _frame in golden_frames("data"):
    FRAMES.setdefault((_frame["api"], _frame["version"]), []).append(_frame)


def test_the_frames_cover_every_version_of_every_message_in_kafka_clients() -> None:
    names = {name for name, one in DEFINITIONS["messages"].items() if one["type"] == "data"}
    declared = {(n, v) for n in names for v in range(embedded.message(n).versions[1] + 1)}
    assert declared == FRAMES.keys()


@pytest.mark.parametrize(("name", "version"), sorted(FRAMES))
def test_all_ways_of_reading_and_writing_agree(name: str, version: int) -> None:
    for frame in FRAMES[name, version]:
        body, codec = bytes.fromhex(frame["hex"]), golden_codec(frame)
        reference = golden_message(frame).at(version)
        expected = from_kafka_json(codec.layout, frame["json"])
        assert repr(codec.decode(body)) == repr(expected), frame["case"]
        assert reference.parse(body) == expected, frame["case"]
        assert codec.encode(expected) == reference.build(expected) == body, frame["case"]
        assert encode_carefully(codec.layout, expected) == body, frame["case"]
        found = embedded.read_versioned(name, version.to_bytes(2) + body)
        assert found == embedded.EmbeddedMessage(name, version, expected), frame["case"]
