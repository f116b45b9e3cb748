"""Every message of data that Kafka's own classes wrote: reference, codec and careful reader agree."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from barnabas.specs import embedded
from barnabas.specs.codec.careful_encoder import encode_carefully
from tests.golden.definitions import DEFINITIONS
from tests.specs.test_golden import GOLDEN, from_kafka_json

with gzip.open(GOLDEN, "rt") as lines:
    FRAMES = [frame for frame in map(json.loads, lines) if frame["direction"] == "data"]

CASES = {(frame["api"], frame["version"]) for frame in FRAMES}


def test_the_frames_cover_every_version_of_every_message_in_kafka_clients() -> None:
    names = {name for name, one in DEFINITIONS["messages"].items() if one["type"] == "data"}
    assert {(n, v) for n in names for v in range(embedded.message(n).versions[1] + 1)} == CASES


@pytest.mark.parametrize(("name", "version"), sorted(CASES))
def test_reference_codec_and_json_agree(name: str, version: int) -> None:
    message = embedded.message(name)
    codec = message.codec(version)
    for frame in frames(name, version):
        body = bytes.fromhex(frame["hex"])
        expected = from_kafka_json(codec.layout, frame["json"])
        assert repr(codec.decode(body)) == repr(expected), frame["case"]
        assert message.at(version).parse(body) == expected, frame["case"]
        assert codec.encode(expected) == body, frame["case"]
        assert message.at(version).build(expected) == body, frame["case"]


@pytest.mark.parametrize(("name", "version"), sorted(CASES))
def test_behind_a_version_the_same_is_read_and_nothing_is_odd(name: str, version: int) -> None:
    for frame in frames(name, version):
        body = bytes.fromhex(frame["hex"])
        found = embedded.read_versioned(name, version.to_bytes(2) + body)
        layout = embedded.message(name).layout(version)
        assert found == embedded.EmbeddedMessage(
            name, version, from_kafka_json(layout, frame["json"])
        )
        assert encode_carefully(layout, found.values) == body


def frames(name: str, version: int) -> list[dict[str, Any]]:
    return [frame for frame in FRAMES if (frame["api"], frame["version"]) == (name, version)]
