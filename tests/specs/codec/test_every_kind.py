"""All ways of reading and writing agree on every kind of field, whole, cut off, and with any byte changed."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from barnabas.specs.codec import Codec, Malformed, TooLarge
from barnabas.specs.codec.careful_encoder import encode_carefully
from barnabas.specs.codec.decoder import IRREGULAR
from barnabas.specs.codec.spans import spans
from barnabas.specs.declaration import Array, Bytes, Int8, Int16, Int32, String, Struct, Type, Uuid
from barnabas.specs.jsonform import to_json
from barnabas.specs.reference import reference
from tests.specs.codec.every_kind import VERSIONS, codec_of, filled, paths_of, picked, without
from tests.specs.codec.variants import as_variant

SIZES = (0, 1, 2, 3, 4, 31, 32, 33, 126, 127, 128, 300)

each_version = pytest.mark.parametrize("version", VERSIONS.values(), ids=VERSIONS)


@each_version
@pytest.mark.parametrize("size", [*SIZES, "nulls", "defaults"])
def test_what_is_written_is_read_by_each(version: int, size: Any) -> None:
    codec = codec_of(version)
    layout = codec.layout
    made = {"nulls": without, "defaults": type(layout).defaults}
    values = made[size](layout) if size in made else filled(layout, size)
    body = reference(layout).build(values)
    assert codec._encode(values) == codec.encode(values) == encode_carefully(layout, values) == body
    assert repr(codec._decode(body)) == repr(codec._charged(body)) == repr(values)
    assert codec.inspect(body) == (values, [])
    assert codec.regular(body) == values
    assert codec.regular(body + b"\0") is None
    assert as_variant(layout, values) == to_json(values)
    for path in paths_of(layout):
        assert codec.project(path)(body) == picked(values, path.split(".")), path
    for slot in layout.slots:
        first, length = codec.project_prefix(slot.name)(body) or ({}, 0)
        assert first == {slot.name: values[slot.name]}
        assert codec.project_prefix(slot.name)(body[:length]) == (first, length)
        assert codec.project_prefix(slot.name)(body[: length - 1]) is None


@each_version
@pytest.mark.parametrize(
    ("kind", "value"),
    [
        *((String, "t" * size) for size in (127, 128, 16_383, 16_384, 32_766, 32_767)),
        *((Bytes, b"r" * size) for size in (16_384, 32_768, 40_000)),
        *((Array(Int32), [7] * size) for size in (0, 3, 31, 32, 126, 127, 128, 16_384)),
        (Array(Uuid), [uuid.UUID(int=7)] * 3),
        (Struct("a" / Int8).nullable(), None),
        (Struct("a" / Int8, "b" / Array(Int16)), {"a": 1, "b": [2, 3, 4, 5]}),
        (Int32.tag(1), 5),
    ],
)  # fmt: skip
def test_a_kind_alone_is_read_by_the_fast_ones(version: int, kind: Type, value: Any) -> None:
    if kind.tag_number is not None and version == 0:
        kind = Int32
    codec = codec_of(version, ("x" / kind, "after" / Int8))
    values = {"x": value, "after": 9}
    body = codec._encode(values)
    assert body == encode_carefully(codec.layout, values)
    assert codec._decode(body) == codec._charged(body) == values


def test_some_of_a_structure_is_without_its_unknown_tags() -> None:
    codec = codec_of(1, ("one" / Struct("id" / Int8, "name" / String), "after" / Int8))
    body = codec.encode({"one": {"id": 1, "name": "n", "_tags": {7: b"x"}}, "after": 2})
    assert codec.project("one.id", "after")(body) == {"one": {"id": 1}, "after": 2}


def test_defaults_are_made_afresh_for_each_body() -> None:
    codec = codec_of(1)
    body = codec.encode(codec.layout.defaults())
    for read in (codec._decode, codec._charged, codec.project("counts", "owner")):
        first = read(body)
        first["counts"].append(7)
        first["owner"]["nodes"].append(7)
        assert read(body)["counts"] == read(body)["owner"]["nodes"] == []


@each_version
def test_what_is_cut_off_or_has_bytes_behind_is_left_to_the_careful_one(version: int) -> None:
    codec = codec_of(version)
    body = codec.encode(filled(codec.layout, 4))
    for size in range(len(body)):
        for read in (codec._decode, codec._charged):
            with pytest.raises(IRREGULAR):
                read(body[:size])
        with pytest.raises(Malformed):
            codec.decode(body[:size])
    with pytest.raises(IRREGULAR):
        codec._decode(body + b"\0")
    assert codec.decode(body + b"\0") == codec.decode(body)


def careful(codec: Codec, body: bytes) -> dict[str, Any] | None:
    try:
        return codec.inspect(body)[0]
    except Malformed:
        return None


@each_version
@pytest.mark.parametrize("made", [lambda layout: filled(layout, 3), without])
def test_whatever_byte_is_another_all_read_the_same_or_refuse(version: int, made: Any) -> None:
    codec = codec_of(version)
    body = codec.encode(made(codec.layout))
    paths = paths_of(codec.layout)
    refused = 0
    for at in range(len(body)):
        for value in {0, 1, 2, 0x7F, 0x80, 0xFF, body[at] - 1 & 0xFF, body[at] + 1 & 0xFF}:
            changed = body[:at] + bytes([value]) + body[at + 1 :]
            found = careful(codec, changed)
            for read in (codec._decode, codec._charged):
                try:
                    assert repr(read(changed)) == repr(found), (at, value)
                except (*IRREGULAR, TooLarge):
                    pass
            path = paths[(at + value) % len(paths)]
            if found is None:
                refused += 1
            else:
                assert repr(codec.decode(changed)) == repr(found)
                assert repr(codec.project(path)(changed)) == repr(picked(found, path.split(".")))
    assert 0 < refused < 4 * len(body)


@each_version
def test_spans_are_where_contents_stand(version: int) -> None:
    codec = codec_of(version)
    body = codec.encode(filled(codec.layout, 3))
    found = spans(codec.layout, body + b"more", ("text", "maybe", "flag", "many.name", "batch"))
    assert [(each.path, each.field, body[each.start : each.end]) for each in found[:-1]] == [
        ("flag", "flag", b"\1"),
        ("text", "text", b"xxx"),
        ("maybe", "maybe", b"xxx"),
        ("batch", "batch", b"rrr"),
        *((f"many[{number}].name", "many.name", b"xxx") for number in range(3)),
    ]
    assert found[-1] == ("", len(body), len(body) + 4)
    assert spans(codec.layout, body, ("no",)) == []
    # an overlong varint in front
    assert spans(codec_of(1, ("x" / Bytes,)).layout, bytes.fromhex("8300 4142 00"), ("x",)) == [
        ("x", 2, 4)
    ]


def test_tags_that_nobody_knows_are_kept_and_written_again() -> None:
    codec = codec_of(1)
    values = filled(codec.layout, 2)
    for tags in ({7: b""}, {1000: b"abc", 3000: b"z" * 300}):
        body = codec.encode(values | {"_tags": tags})
        assert codec._decode(body) == codec._charged(body) == values | {"_tags": tags}
        assert codec.inspect(body) == (values | {"_tags": tags}, [])
        assert codec.project("one.id")(body) == {"one": {"id": 1}}
        assert as_variant(codec.layout, values | {"_tags": tags}) == to_json(
            values | {"_tags": tags}
        )
        with_more = values | {"one": values["one"] | {"_tags": tags}, "_tags": tags}
        again = codec.encode(with_more)
        assert codec.project("one.id")(again) == {"one": {"id": 1}}
        assert codec._decode(again) == with_more
        assert codec.project("one")(again) == {"one": with_more["one"]}
