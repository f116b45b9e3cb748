"""Bodies as VARIANT say what their JSON form says, for all layouts that there are."""

from __future__ import annotations

import json
import math
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql.types import VariantVal

from barnabas import specs
from barnabas.captures.kafka.context.completing import complete, gaps
from barnabas.specs.codec.variant import Path, metadata, names, variant_writer
from barnabas.specs.frames import Direction
from barnabas.specs.jsonform import BLOBS, MOST, Blob, base64_text, to_json
from barnabas.specs.layout import Layout
from barnabas.specs.registry import REGISTRY, api
from barnabas.specs.secrets import by_field, redact, secret_paths
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


def written(
    layout: Layout,
    body: dict[str, Any],
    known: dict[uuid.UUID, str],
    secrets: Mapping[str, str] | None = None,
    named: Sequence[tuple[Path, str, str]] = (),
    blob: Blob = base64_text,
) -> Any:
    """A body there and back, by somebody else's reading."""
    dictionary, more = sorted(names(layout, named)), list[str]()
    value = variant_writer(layout, "it", dictionary, secrets or {}, named, blob)(body, known, more)
    return json.loads(VariantVal(value, metadata([*dictionary, *more])).toJson())


@pytest.mark.slow("a property of every message and version")
@pytest.mark.parametrize("key", [key for key, _, _ in REGISTRY])
@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_it_is_the_dumped_json_form_without_secrets(key: int, data: st.DataObject) -> None:
    direction: Direction = data.draw(st.sampled_from(("request", "response")))
    low, high = api(key).versions
    message = api(key).message(direction)
    version = data.draw(st.integers(low, high))
    layout = message.layout(version)
    body = message.codec(version).decode(message.codec(version).encode(data.draw(values(layout))))
    secrets = by_field(secret_paths(key, direction))
    assert written(layout, body, {}, secrets) == finite(to_json(redact(key, direction, body)))


def test_a_value_that_its_structure_calls_sensitive_is_withheld() -> None:
    codec = api("DescribeConfigs").response.codec(4)
    entries = [
        {"name": name, "value": name, "is_sensitive": secret, "synonyms": [{"value": name}]}
        for name, secret in (("hunter2", True), ("plain", False))
    ]
    body = codec.decode(codec.encode({"results": [{"configs": entries}]}))
    found = written(codec.layout, body, {}, by_field(secret_paths(32, "response")))
    assert found == to_json(redact(32, "response", body))
    configs = found["results"][0]["configs"]
    assert [one["synonyms"][0]["value"] for one in configs] == ["<redacted>", "plain"]


@pytest.mark.parametrize(("key", "direction"), [(1, "request"), (1, "response"), (8, "request")])
@settings(max_examples=20, suppress_health_check=list(HealthCheck))
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
    found = written(message.layout(version), body, known, named=named)
    complete(body, key, version, direction, known)
    assert found == finite(to_json(body))


def layout_of(name: str, version: int) -> Layout:
    return specs.api(name).request.layout(version)


@pytest.mark.parametrize("count", [0, 1, 255, 256, 70_000])
def test_arrays_of_any_length(count: int) -> None:
    body = {"topics": [{"name": f"t{number}"} for number in range(count)]}
    assert written(layout_of("Metadata", 1), body, {}) == body


@pytest.mark.parametrize("count", [1, 255, 256, 70_000])
def test_any_number_of_tags_that_nobody_knows(count: int) -> None:
    tags = {1000 + number: b"" for number in range(count)}
    found = written(layout_of("ListGroups", 3), {"_tags": tags}, {})
    assert found == {"_tags": {str(number): "" for number in tags}}


@pytest.mark.parametrize("blob", BLOBS.values(), ids=BLOBS)
@pytest.mark.parametrize("size", [0, MOST, MOST + 1, 1 << 20])
def test_bytes_are_written_as_json_has_them(size: int, blob: Blob) -> None:
    assignment = {"member_id": "m", "assignment": b"a" * size, "_tags": {7: b"t" * size}}
    layout = next(
        slot.node.element.struct
        for slot in layout_of("SyncGroup", 5).slots
        if slot.name == "assignments" and slot.node.element is not None
    )
    assert layout is not None
    assert written(layout, assignment, {}, blob=blob) == to_json(assignment, blob)


@pytest.mark.parametrize("size", [0, 63, 64, 255, 256, 65_535, 65_536, 1 << 20])
def test_texts_of_any_size(size: int) -> None:
    body = {"topics": [{"name": "t" * size}]}
    assert written(layout_of("Metadata", 1), body, {}) == body
