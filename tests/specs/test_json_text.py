"""JSON text of bodies: what json.dumps makes of their JSON form, for all layouts that there are."""

from __future__ import annotations

import json
import math
import uuid
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from captures.context.completing import complete, gaps
from specs.codec.json_text import json_writer
from specs.contents import CONTENTS, api
from specs.frames import Direction
from specs.jsonform import to_json
from specs.secrets import redact, secret_paths
from tests.specs.strategies import values


def finite(value: Any) -> Any:
    match value:
        case dict():
            return {name: finite(inner) for name, inner in value.items()}
        case list():
            return [finite(item) for item in value]
        case float() if not math.isfinite(value):
            return str(value)
    return value


def dumped(value: Any) -> str:
    return json.dumps(finite(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


@pytest.mark.parametrize("key", [key for key, _, _ in CONTENTS])
@settings(deadline=None, max_examples=8, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_it_is_the_dumped_json_form_without_secrets(key: int, data: st.DataObject) -> None:
    direction: Direction = data.draw(st.sampled_from(("request", "response")))
    low, high = api(key).versions
    message = api(key).message(direction)
    version = data.draw(st.integers(low, high))
    layout = message.layout(version)
    body = message.codec(version).decode(message.codec(version).encode(data.draw(values(layout))))
    secrets = [tuple(path.split(".")) for path in secret_paths(key, direction)]
    assert json_writer(layout, "it", secrets)(body, {}) == dumped(
        to_json(redact(key, direction, body))
    )


@pytest.mark.parametrize(("key", "direction"), [(1, "request"), (1, "response"), (8, "request")])
@settings(deadline=None, max_examples=20, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_names_stand_behind_the_fields_of_their_structures(
    key: int, direction: Direction, data: st.DataObject
) -> None:
    version = api(key).versions[1]
    message = api(key).message(direction)
    known = {uuid.UUID(int=0): 'zero "quoted"'}
    body = message.codec(version).decode(
        message.codec(version).encode(data.draw(values(message.layout(version))))
    )
    named = [(one.path, one.id, one.name or "") for one in gaps(key, version, direction)]
    assert named
    text = json_writer(message.layout(version), "it", named=named)(body, known)
    complete(body, key, version, direction, known)
    assert json.loads(text) == json.loads(dumped(to_json(body)))
