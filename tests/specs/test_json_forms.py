"""The JSON form of bodies that generated functions make is that of `to_json`, without secrets."""

from __future__ import annotations

import copy
import json
import math
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from barnabas.specs.frames import DIRECTIONS, Direction
from barnabas.specs.json_forms import form_of, json_form
from barnabas.specs.json_text import compact, number
from barnabas.specs.jsonform import base64_text, to_json
from barnabas.specs.registry import REGISTRY, api
from barnabas.specs.secrets import SECRETS, redact
from tests.golden.frames import golden_frames, golden_values
from tests.specs.strategies import values


def golden() -> list[tuple[int, int, Direction, dict[str, Any]]]:
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


def by_json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":")).replace("\x7f", "\\u007f")


FLOATS = st.floats() | st.floats(-2, 2) | st.floats(1e15, 1e17)


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 70), 1 << 70)
    | FLOATS.map(number)
    | st.text(st.characters() | st.characters(categories=["Cs", "Cc", "Zl", "Zp"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
)


@given(VALUES)
def test_it_is_what_json_writes(value: Any) -> None:
    assert compact(value) == by_json(value)


def test_each_character_is_as_json_writes_it() -> None:
    for text in (*map(chr, range(0x3000)), "\ud800", "\U0001f469", '"\\/\x7f\x85', "a" * 9):
        assert compact({text: [text]}) == by_json({text: [text]})
        assert compact(text).isascii()


def test_each_kind_of_float_is_as_json_writes_it() -> None:
    edges = [math.nextafter(edge, to) for edge in (1e-4, 1e16) for to in (0, math.inf)]
    odd = [math.nan, math.inf, 0.0, 0.1, 1e22 / 3, 5e-324, sys.float_info.max, *edges]
    for value in (*odd, *(10.0**power for power in range(-330, 309))):
        assert compact([number(value), number(-value)]) == by_json([value, -value])


@pytest.mark.parametrize("value", [b"", object(), {b"": 1}, {1, 2}])
def test_what_json_lacks_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        compact(value)
