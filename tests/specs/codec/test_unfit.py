"""Values that a field can't hold are refused with the field's path, and the reason."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas import specs
from barnabas.specs.codec import Unfit
from barnabas.specs.codec.careful_encoder import encode_carefully
from barnabas.specs.declaration import (
    Array,
    Bool,
    Bytes,
    Float64,
    Int8,
    Int16,
    Int32,
    String,
    Struct,
    Uuid,
)
from tests.specs.codec.every_kind import VERSIONS, codec_of

TYPES = {
    "flag": Bool,
    "short": Int16,
    "real": Float64,
    "id": Uuid,
    "text": String,
    "raw": Bytes,
    "array": Array(Int32),
    "counted": Array(Int8).counted(Int16),
    "structures": Array("a" / Int8),
    "one": Struct("a" / Int8),
    "tagged": Int32.since(1).tag(1),
}
NULL = "null is not allowed in this version"
TAGS = "a table of tag number to bytes is expected"
LONG = "a string of 32768 bytes; 32767 is the most"


@pytest.mark.parametrize("encoding", VERSIONS)
@pytest.mark.parametrize(
    ("name", "value", "path", "reason"),
    [
        ("short", 32768, "x", "32768 is not a valid int16: 'h' format requires -32768 <= number <= 32767"),
        ("short", "soon", "x", "'soon' is not a valid int16: required argument is not an integer"),
        ("real", "x", "x", "'x' is not a valid float64: required argument is not a float"),
        ("id", "x", "x", "a uuid.UUID is expected, not 'x'"),
        ("text", None, "x", NULL),
        ("text", 7, "x", "a string is expected, not 7"),
        ("text", "a" * 32768, "x", LONG),
        ("text", "é" * 16384, "x", LONG),
        ("text", "\ud800", "x", r"'\ud800' is not valid text: surrogates not allowed"),
        ("raw", None, "x", NULL),
        ("raw", "text", "x", "bytes are expected, not 'text'"),
        ("array", None, "x", NULL),
        ("array", "abc", "x", "a list is expected, not 'abc'"),
        ("array", [1, "x"], "x[1]", "'x' is not a valid int32: required argument is not an integer"),
        ("array", [1] * 40 + [None], "x[40]",
         "None is not a valid int32: required argument is not an integer"),
        ("structures", None, "x", NULL),
        ("structures", [{"a": 1}, 3], "x[1]", "a structure is expected, not 3"),
        ("one", None, "x", "a structure is expected, not None"),
        ("one", {"a": "b"}, "x.a", "'b' is not a valid int8: required argument is not an integer"),
    ],
)  # fmt: skip
def test_a_value_that_does_not_fit_is_named(
    encoding: str, name: str, value: Any, path: str, reason: str
) -> None:
    codec = codec_of(VERSIONS[encoding], ("x" / TYPES[name],))
    with pytest.raises(Unfit) as caught:
        codec.encode({"x": value})
    assert (caught.value.path, caught.value.reason) == (path, reason)
    assert str(caught.value) == f"{path}: {reason}"


@pytest.mark.parametrize(
    ("version", "name", "values", "said"),
    [
        (0, "short", {"y": 1}, "y: no such field in this version; there are ['x']"),
        (0, "short", {"_tags": {}}, "_tags: no such field in this version; there are ['x']"),
        (1, "one", {"x": {"b": 1}}, "x.b: no such field in this version; there are ['_tags', 'a']"),
        (0, "counted", {"x": [0] * 32768}, "x: 32768 elements; int16 can't count them"),
        (1, "short", {"x": 1, "_tags": {"a": b""}}, f"_tags: {TAGS}"),
        (1, "short", {"x": 1, "_tags": {-1: b""}}, f"_tags: {TAGS}"),
        (1, "one", {"x": {"a": 1, "_tags": {5: "x"}}}, f"x._tags: {TAGS}"),
        (1, "tagged", {"x": 2, "_tags": {1: b""}}, "_tags: tag 1 is x"),
        (1, "tagged", {"x": None}, "x: None is not a valid int32: required argument is not an integer"),
        (0, "short", [], "body: a structure is expected, not []"),
    ],
)  # fmt: skip
def test_fields_and_tags_that_are_none_of_a_version(
    version: int, name: str, values: Any, said: str
) -> None:
    with pytest.raises(Unfit) as caught:
        codec_of(version, ("x" / TYPES[name],)).encode(values)
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("flag", 1, "x: True or False is expected, not 1"),
        ("flag", None, "x: True or False is expected, not None"),
        ("short", True, "x: True is not a valid int16"),
    ],
)
def test_the_careful_writer_tells_truth_values_from_numbers(
    name: str, value: Any, said: str
) -> None:
    with pytest.raises(Unfit) as caught:
        encode_carefully(codec_of(0, ("x" / TYPES[name],)).layout, {"x": value})
    assert str(caught.value) == said


def test_missing_fields_take_their_defaults() -> None:
    codec = specs.api("Fetch").request.codec(11)
    values = codec.decode(codec.encode({"topics": [{"topic": "t", "partitions": [{}]}]}))
    assert values["max_bytes"] == 2**31 - 1
    assert values["topics"][0]["partitions"][0]["current_leader_epoch"] == -1
    assert specs.api("Fetch").request.at(11).build({}) == codec.encode({})


@pytest.mark.parametrize("value", [bytearray(b"ab"), memoryview(b"ab"), b"ab"])
def test_other_forms_of_bytes_and_lists_are_written_too(value: Any) -> None:
    layout = codec_of(0, ("x" / Bytes, "y" / Array(Int8), "z" / Bool)).layout
    written = encode_carefully(layout, {"x": value, "y": (1, 2), "z": True})
    assert written == bytes.fromhex("00000002 6162 00000002 01 02 01")
