"""The JSON form of bodies that generated functions make is that of `to_json`, without secrets."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from barnabas.specs.frames import DIRECTIONS, Direction
from barnabas.specs.json_forms import form_of, json_form
from barnabas.specs.jsonform import base64_text, to_json
from barnabas.specs.registry import REGISTRY, api
from barnabas.specs.secrets import SECRETS, redact
from tests.golden.frames import golden_frames, golden_values
from tests.specs.strategies import values


def golden() -> list[tuple[int, int, Direction, dict[str, Any]]]:
    """(key, version, direction, body) of every frame."""
    return [
        (frame["key"], frame["version"], frame["direction"], golden_values(frame))
        for frame in golden_frames()
    ]


def test_golden_bodies_have_the_form_of_to_json() -> None:
    found = golden()
    assert {key for key, *_ in found} == {key for key, _, _ in REGISTRY}
    directions = {(key, direction) for key, _, direction, _ in found}
    assert {(api(name).key, direction) for name, direction, _ in SECRETS} <= directions
    for key, version, direction, body in found:
        before = copy.deepcopy(body)
        made = json_form(key, version, direction)(body, base64_text)
        wanted = to_json(redact(key, direction, body))
        assert json.dumps(made) == json.dumps(wanted)  # the order of fields, too
        assert body == before


@pytest.mark.slow("a property of every message and version")
@pytest.mark.parametrize("key", [key for key, _, _ in REGISTRY])
@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_body_has_the_form_of_to_json(key: int, data: st.DataObject) -> None:
    direction = data.draw(st.sampled_from(DIRECTIONS))
    version = data.draw(st.integers(*api(key).versions))
    message = api(key).message(direction)
    codec = message.codec(version)
    body = codec.decode(codec.encode(data.draw(values(message.layout(version)))))
    made = json_form(key, version, direction)(body, base64_text)
    assert json.dumps(made) == json.dumps(to_json(redact(key, direction, body)))


def test_what_nobody_knows_stands_under_its_number() -> None:
    form = form_of(api("Metadata").request.layout(9), "it")
    topic = {"name": "t", "_tags": {7: b"abc"}}
    body = {"topics": [topic], "_tags": {1000: b""}}
    assert form(body, base64_text) == {
        "topics": [{"name": "t", "_tags": {"7": "YWJj"}}],
        "_tags": {"1000": ""},
    }
