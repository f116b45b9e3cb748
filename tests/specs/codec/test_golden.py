"""Every frame that Kafka's own classes wrote: reference, codec and careful reader agree with it."""

from __future__ import annotations

import pytest

from barnabas import specs
from barnabas.specs.codec.careful_encoder import encode_carefully
from tests.golden.definitions import ANEW
from tests.golden.frames import BY_API, from_kafka_json, golden_codec, golden_frames, golden_message


def test_the_frames_cover_every_api_and_version() -> None:
    seen = {(frame["key"], frame["direction"], frame["version"]) for frame in golden_frames()}
    declared = {
        (key, direction, version)
        for key, _, _ in specs.REGISTRY
        for direction in ("request", "response")
        for version in range(specs.api(key).versions[1] + 1)
    }
    assert seen == declared, ANEW


@pytest.mark.parametrize("api", BY_API)
def test_reference_codec_careful_reader_and_json_agree(api: str) -> None:
    for frame in BY_API[api]:
        body, codec = bytes.fromhex(frame["hex"]), golden_codec(frame)
        reference = golden_message(frame).at(frame["version"])
        expected = from_kafka_json(codec.layout, frame["json"])
        where = f"{api} {frame['direction']} v{frame['version']} {frame['case']}"
        # repr tells -0.0 from 0.0 and 1 from True; each way of reading by itself
        for values in (codec.decode(body), codec._decode(body), codec.inspect(body)[0]):
            assert repr(values) == repr(expected), where
        assert codec.inspect(body)[1] == [], where
        assert reference.parse(body) == expected, where
        assert codec.encode(expected) == body, where
        assert reference.build(expected) == encode_carefully(codec.layout, expected) == body, where
        if "_tags" not in repr(expected):
            assert codec._encode(expected) == body, where
