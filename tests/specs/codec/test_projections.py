"""Some of a body's fields: by path, from its first bytes, and where its addresses stand."""

from __future__ import annotations

import pytest

from barnabas import specs
from barnabas.specs import embedded
from barnabas.specs.codec.careful_encoder import encode_carefully
from barnabas.specs.codec.decoder import IRREGULAR
from tests.specs.codec import every_kind
from tests.specs.codec.every_kind import filled, paths_of, picked


def test_a_projection_has_what_is_asked_for_and_stops_behind_it() -> None:
    codec = specs.api("Fetch").response.codec(12)
    partition = {"partition_index": 3, "error_code": 1, "records": b"12345"}
    body = codec.encode({"session_id": 9, "responses": [{"topic": "t", "partitions": [partition]}]})
    project = codec.project("responses.topic", "responses.partitions.error_code")
    expected = {"responses": [{"topic": "t", "partitions": [{"error_code": 1}]}]}
    assert project(body) == project(body + b"\0") == expected
    assert codec.project("session_id")(body[:10]) == {"session_id": 9}  # reads no further
    assert codec.project_prefix("session_id")(body[:10]) == ({"session_id": 9}, 10)
    assert codec.project("no_such_field", "session_id.no")(body) == {}
    assert codec.project_prefix("no_such_field")(body) == ({}, 0)
    assert codec.project("session_id") is codec.project("session_id")  # made once
    assert codec.project_prefix("session_id") is codec.project_prefix("session_id")


@pytest.mark.parametrize("version", every_kind.VERSIONS.values())
def test_paths_that_a_layout_has(version: int) -> None:
    layout = every_kind.codec_of(version).layout
    walked = list(layout.walk())
    assert [each.dotted for each in walked] == list(paths_of(layout))
    assert all(layout.find(each.dotted) is each.slot in each.around.slots for each in walked)
    for path in ("no", "whole.x", "numbers.x", "many.no", "many.id.x", ""):
        assert layout.find(path) is None


@pytest.mark.parametrize("version", every_kind.VERSIONS.values())
def test_several_paths_at_once(version: int) -> None:
    codec = every_kind.codec_of(version)
    values = filled(codec.layout, 3)
    body = codec.encode(values)
    paths = ("flag", "one.name", "many.id", "many.nodes", "last", "heir.note", "counts")
    found = codec.project(*paths)(body)
    assert found == {
        "flag": True,
        "one": picked(values["one"], ["name"]),
        "many": [{"id": 2, "nodes": one["nodes"]} for one in values["many"]],
        "last": [True] * 3,
        **({"counts": [2] * 3, "heir": {"note": "xxx"}} if version else {}),
    }
    assert codec.project_prefix("flag", "key")(body) == (
        {"flag": True, "key": values["key"]},
        1 + 1 + 2 + 2 + 4 + 4 + 8 + 8 + 16,
    )


def address(kind: str) -> tuple[str, ...]:
    return (f"{kind}.node_id", f"{kind}.host", f"{kind}.port")


@pytest.mark.parametrize(("version", "ends"), [(1, (8, 16, 22, 29)), (9, (9, 16, 22, 28))])
def test_where_addresses_stand(version: int, ends: tuple[int, ...]) -> None:
    codec = specs.api("Metadata").response.codec(version)
    nodes = [{"node_id": 1, "host": "ab", "port": 7}, {"node_id": 2, "host": "c", "port": 8}]
    body = codec.encode({"brokers": nodes})
    (one, one_end, two, two_end), size = ends, 2 if version == 1 else 1
    assert body[one + size : one_end] == b"ab\0\0\0\7"
    places = [(1, b"ab", 7, one, one_end), (2, b"c", 8, two, two_end)]
    assert codec.locate(*address("brokers"))(body) == (places, [])
    with pytest.raises(IRREGULAR):
        codec.locate(*address("brokers"))(body[:20])


def test_where_addresses_stand_in_a_tag_whose_size_changes_with_them() -> None:
    codec = specs.api("Fetch").response.codec(16)
    for host, size in ((b"ab", 1), (b"h" * 200, 2)):
        node = {"node_id": 1, "host": host.decode(), "port": 7}
        body = codec.encode({"node_endpoints": [node]})
        end = 24 + 2 * (size - 1) + len(host)
        places, boxes = codec.locate(*address("node_endpoints"))(body)
        assert places == [(1, host, 7, 19 + size - 1, end)]
        assert boxes == [(13, 13 + size, len(body))]
        assert body[boxes[0][1] : boxes[0][2]][:5] == b"\2\0\0\0\1"


def test_null_in_a_tagged_field_is_a_zero_in_front_of_a_structure() -> None:
    message = embedded.message("ConsumerGroupMemberMetadataValue")
    codec, reference = message.codec(0), message.at(0)
    # as Kafka 4.3.1 wrote it (its generated class has an unsigned varint there)
    for member, tail in (
        (None, "01 00 01 00"),
        ({"session_timeout_ms": 9, "supported_protocols": []}, "01 00 07 01 00000009 01 00"),
    ):
        values = codec.layout.defaults() | {"classic_member_metadata": member}
        body = codec.encode(values)
        assert body.endswith(bytes.fromhex(tail))
        assert codec._decode(body) == codec.decode(body) == reference.parse(body) == values
        assert codec.inspect(body) == (values, [])
        assert encode_carefully(codec.layout, values) == body == reference.build(values)
