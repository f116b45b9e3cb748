"""Bodies as VARIANT say what their JSON form says, for all layouts that there are."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql.types import VariantVal

from barnabas.captures.kafka.context.name_completion import complete, gaps
from barnabas.specs.codec import Codec
from barnabas.specs.codec.variant import metadata, names, pair, variant_writer
from barnabas.specs.declaration import (
    Array,
    Bool,
    Bytes,
    Field,
    Float64,
    Int32,
    Int64,
    NullableString,
    String,
    Struct,
)
from barnabas.specs.frames import Direction
from barnabas.specs.jsonform import BLOBS, MOST, Blob, to_json
from barnabas.specs.registry import REGISTRY, api
from barnabas.specs.secrets import by_field, redact, secret_paths
from tests.specs.codec.every_kind import codec_of
from tests.specs.codec.variants import as_variant, finite
from tests.specs.strategies import values


def drawn(data: st.DataObject, codec: Codec) -> dict[str, Any]:
    return codec.decode(codec.encode(data.draw(values(codec.layout))))


@pytest.mark.slow("a property of every message and version")
@pytest.mark.parametrize("key", [key for key, _, _ in REGISTRY])
@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_it_is_the_dumped_json_form_without_secrets(key: int, data: st.DataObject) -> None:
    direction: Direction = data.draw(st.sampled_from(("request", "response")))
    codec = api(key).message(direction).codec(data.draw(st.integers(*api(key).versions)))
    body = drawn(data, codec)
    secrets = by_field(secret_paths(key, direction))
    expected = finite(to_json(redact(key, direction, body)))
    assert as_variant(codec.layout, body, secrets=secrets) == expected


@pytest.mark.parametrize("size", [(1 << 8) - 1, 1 << 8, (1 << 16) - 1, 1 << 16])
def test_offsets_are_as_wide_as_the_last_of_them(size: int) -> None:
    said = ["a" * (size - 1), "b"]
    found = json.loads(VariantVal(pair((b"\0", b"\0")), metadata(said)).toJson())
    assert found == dict.fromkeys(said)


@pytest.mark.parametrize(("key", "direction"), [(1, "request"), (1, "response"), (8, "request")])
@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_names_stand_behind_the_fields_of_their_structures(
    key: int, direction: Direction, data: st.DataObject
) -> None:
    version = api(key).versions[1]
    codec = api(key).message(direction).codec(version)
    known = {uuid.UUID(int=0): 'zero "quoted"'}
    body = drawn(data, codec)
    named = [(one.path, one.id, one.name or "") for one in gaps(key, version, direction)]
    assert named
    found = as_variant(codec.layout, body, known, named=named)
    complete(body, key, version, direction, known)
    assert found == finite(to_json(body))


def test_a_value_that_its_structure_calls_sensitive_is_withheld() -> None:
    codec = api("DescribeConfigs").response.codec(4)
    entries = [
        {"name": name, "value": name, "is_sensitive": secret, "synonyms": [{"value": name}]}
        for name, secret in (("hunter2", True), ("plain", False))
    ]
    body = codec.decode(codec.encode({"results": [{"configs": entries}]}))
    found = as_variant(codec.layout, body, secrets=by_field(secret_paths(32, "response")))
    assert found == to_json(redact(32, "response", body))
    configs = found["results"][0]["configs"]
    assert [one["synonyms"][0]["value"] for one in configs] == ["<redacted>", "plain"]


TEXT, TEXTS = ("x" / NullableString,), ("x" / Array(String),)
EDGES = [number + more for number in (0, 2**7, 2**10, 2**15, 2**31) for more in (-1, 0, 1)]
NUMBERS = sorted({*EDGES, *(-one for one in EDGES), 2**63 - 1, -(2**63)})
MANY = tuple(name / Struct(*(f"{name}{n}" / Int32 for n in range(200))) for name in "ab")
MANY_VALUES = {name: {f"{name}{n}": n for n in range(200)} for name in "ab"}
"""The numbers of their names take two bytes."""
NESTED = ("a" / Struct("b" / Array("c" / Bool, "d" / Float64), "e" / Int32), "f" / String)


@pytest.mark.parametrize(
    ("fields", "body"),
    [
        (TEXT, {"x": None}),
        *((TEXT, {"x": "t" * size}) for size in (0, 63, 64, 252, 253, 65_530, 65_531, 1 << 17)),
        *((TEXTS, {"x": ["t"] * count}) for count in (0, 1, 127, 128, 255, 256, 70_000)),
        (TEXTS, {"x": ["t" * 300] * 300}),
        (("x" / Array(Int64),), {"x": NUMBERS}),
        (("x" / Int32, "y" / Int32), {"x": 1 << 20, "y": -9}),
        (("x" / Array(Float64),), {"x": [0.5, float("inf"), float("nan")]}),
        (NESTED, {"a": {"b": [{"c": True, "d": 1.0}, {"c": False, "d": 2.0}], "e": 1}, "f": "g"}),
        (MANY, MANY_VALUES),
        ((), {}),
    ],
)  # fmt: skip
def test_values_of_any_size(fields: tuple[Field, ...], body: dict[str, Any]) -> None:
    layout = codec_of(0, fields).layout
    assert as_variant(layout, body) == finite(body)


def test_numbers_counts_and_offsets_take_as_few_bytes_as_they_need() -> None:
    def sizes(
        fields: tuple[Field, ...], bodies: list[dict[str, Any]], flexible: int = 0
    ) -> list[int]:
        layout = codec_of(flexible, fields).layout
        write = variant_writer(layout, "it", sorted(names(layout)))
        return [len(write(body, {}, [])) for body in bodies]

    numbers = (7, -100, -129, 5_000, 1 << 15, -(1 << 20), 1 << 31)
    around = 5  # kind, number of fields, name, two offsets
    assert sizes(("x" / Int64,), [{"x": one} for one in numbers]) == [
        around + 1 + size for size in (1, 1, 2, 2, 4, 4, 8)
    ]
    lists = [{"x": ["t"] * count} for count in (0, 1, 127, 128, 256)]
    assert sizes(TEXTS, lists) == [
        around + 2 + 1,  # kind, number of elements, offsets
        around + 2 + 2 + 2,
        around + 2 + 2 + 128 + 127 * 2,
        around + 2 + 2 + 129 * 2 + 128 * 2,
        around + 2 + 5 + 257 * 2 + 256 * 2,
    ]
    tags = [{"_tags": dict.fromkeys(range(1000, 1000 + count), b"")} for count in (1, 2)]
    assert sizes((), tags, 1) == [around + 5 + 1, around + 5 + 4]


@pytest.mark.parametrize("fields", [(), TEXT])
@pytest.mark.parametrize("count", [1, 2, 253, 254, 255, 256, 70_000])
def test_any_number_of_tags_that_nobody_knows(fields: tuple[Field, ...], count: int) -> None:
    body: dict[str, Any] = {"x": "t"} if fields else {}
    tags = range(1000, 1000 + count)
    expected = body | {"_tags": {str(number): "" for number in tags}}
    assert (
        as_variant(codec_of(1, fields).layout, body | {"_tags": dict.fromkeys(tags, b"")})
        == expected
    )


@pytest.mark.parametrize("blob", BLOBS.values(), ids=BLOBS)
@pytest.mark.parametrize("size", [0, MOST, MOST + 1, 1 << 20])
def test_bytes_are_written_as_json_has_them(size: int, blob: Blob) -> None:
    body = {"raw": b"a" * size, "list": [b"b" * size], "_tags": {7: b"t" * size}}
    layout = codec_of(1, ("raw" / Bytes, "list" / Array(Bytes))).layout
    assert as_variant(layout, body, blob=blob) == to_json(body, blob)


def test_secrets_are_told_by_their_size_alone() -> None:
    layout = codec_of(0, ("raw" / Bytes, "text" / NullableString, "list" / Array(String))).layout
    secrets = {"raw": "", "text": "", "list": ""}
    assert as_variant(
        layout, {"raw": b"abc", "text": "hunter2", "list": ["a"]}, secrets=secrets
    ) == {"raw": "<redacted 3 bytes>", "text": "<redacted>", "list": ["<redacted>"]}
    nothing: dict[str, Any] = {"raw": b"", "text": None, "list": []}
    assert as_variant(layout, nothing, secrets=secrets) == nothing | {"raw": "<redacted 0 bytes>"}


def test_names_are_those_of_all_fields_and_of_what_may_stand_for_bytes() -> None:
    plain = codec_of(0, ("x" / Array("y" / Int32),)).layout
    assert names(plain) == {"x", "y"}
    assert names(plain, [(("x",), "y", "name")]) == {"x", "y", "name"}
    elided = {"bytes", "sha256"}
    assert names(codec_of(0, ("x" / Array(Bytes),)).layout) >= {"x", *elided}
    assert names(codec_of(1, ("x" / Int32,)).layout) >= {"x", "_tags", *elided}
