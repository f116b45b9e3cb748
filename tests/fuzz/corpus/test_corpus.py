"""Where messages come from: generated, captured, listed in a file."""

from __future__ import annotations

import pytest

from barnabas.fuzz.corpus.corpus import captured, generated
from barnabas.fuzz.frame_map.fields import map_of
from barnabas.specs import keys
from barnabas.specs.frames import Direction
from tests.places import SAMPLES

DIRECTIONS: tuple[Direction, ...] = ("request", "response")


def test_generated_ones_are_of_every_version_with_origins_of_their_own() -> None:
    found = generated("s", {keys.METADATA: (0, 13), keys.FETCH: (4, 5)}, "response", each=3)
    assert len({seed.origin for seed in found}) == len(found) == 3 * 16
    assert {(seed.key, seed.version) for seed in found if seed.key == keys.FETCH} == {
        (1, 4),
        (1, 5),
    }
    assert generated("s", {keys.METADATA: (1, 1)}, "request") != generated(
        "t", {keys.METADATA: (1, 1)}, "request"
    )
    with pytest.raises(LookupError):
        generated("s", {keys.METADATA: (0, 99)}, "request")


def test_captured_ones_are_each_there_once() -> None:
    capture = SAMPLES / "embedded.pcapng"
    for direction in DIRECTIONS:
        found = list(captured(capture, direction))
        assert found
        assert len({seed.origin for seed in found}) == len(found)
        assert len({(seed.key, seed.version, seed.frame) for seed in found}) == len(found)
        # librdkafka's mock cluster writes more than these versions have
        odd = {(seed.key, seed.version) for seed in found if map_of(seed).cut}
        assert odd <= {(keys.METADATA, 13), (keys.API_VERSIONS, 3)}
    versions = {seed.version for seed in captured(capture, "request", {keys.API_VERSIONS: (3, 3)})}
    assert versions <= {3}
