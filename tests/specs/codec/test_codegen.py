"""Generated source as it is read: names of fields, their paths, and lines in tracebacks."""

from __future__ import annotations

import traceback
from typing import Any

import pytest

from barnabas import specs
from barnabas.specs.codec.codegen import source_of
from barnabas.specs.codec.decoder import decoder
from barnabas.specs.codec.encoder import UNFIT
from barnabas.specs.codec.selection import Selection
from barnabas.specs.codec.variant import names, variant_writer
from barnabas.specs.declaration import Array, Bool, Int8, Int32, String, Struct, Uuid
from barnabas.specs.message import Message
from tests.specs.codec.every_kind import codec_of

AWKWARD = (*"bpnqvw", "out", "len", "range", "class", "body", "uuid", "uvarint", "Irregular")

FIELDS = (
    *(name / kind for name, kind in zip(AWKWARD, (Uuid, String, Int32, Array(Int32)) * 4, strict=False)),
    "topics" / Array("b" / String.nullable(), "topics_item" / Struct("n" / Int32), "body" / Array(String)),
    "names" / Int32.tag(0),
    "default" / String.tag(1),
)  # fmt: skip


@pytest.mark.parametrize("flexible", [0, 1])
def test_fields_may_be_called_as_anything_in_the_source_is(flexible: int) -> None:
    message = Message(*(FIELDS if flexible == 0 else FIELDS[:-2])).of("Awkward", (0, 0), flexible)
    codec = message.codec(0)
    topics: list[dict[str, Any]] = [{"b": None}, {"b": "x", "topics_item": {"n": 3}, "body": ["y"]}]
    values = codec.decode(codec.encode({"w": "long", "len": [1, 2], "topics": topics}))
    body = codec._encode(values)
    assert codec._decode(body) == values == message.at(0).parse(body)
    assert codec._charged(body) == values
    dictionary = sorted(names(codec.layout))
    assert variant_writer(codec.layout, "awkward", dictionary)(values, {}, [])


def test_a_traceback_shows_the_line_of_the_field() -> None:
    codec = specs.api("Heartbeat").request.codec(4)
    values = codec.layout.defaults() | {"member_id": 7}
    with pytest.raises(UNFIT) as caught:
        codec._encode(values)
    assert "member_id = member_id.encode()" in "".join(traceback.format_exception(caught.value))


def test_each_line_is_under_a_comment_with_the_paths_that_it_is_about() -> None:
    fields = (
        "a" / Int32,
        "b" / Array(Int32),
        "c" / Array("d" / String, "e" / Int8),
        "f" / Bool.nullable(),
    )
    codec = codec_of(0, fields)
    comments = [line.strip()[2:] for line in codec.source().splitlines() if "# " in line]
    assert comments == ["a", "b", "c", "c[].d", "c[].e", "f", "a, b", "c", "c[].d", "c[].e", "f"]


def test_functions_of_one_version_have_sources_of_their_own() -> None:
    codec = specs.api("EndQuorumEpoch").request.codec(0)
    old = specs.api("EndQuorumEpoch").request.codec(0, "2.7")
    found = {
        source_of(each) for each in (codec._decode, codec._charged, codec._encode, old._decode)
    }
    assert len(found) == 4
    assert "replica_id" in old.source()
    assert "replica_id" not in codec.source()
    some: list[Selection] = [{"a": None}, {"a": {"b": None, "c": None}}, {"d": None}]
    layout = specs.api("Fetch").request.layout(0)
    files = [decoder(layout, "it", wanted).__code__.co_filename for wanted in some]
    fields = ("a", "a.b, a.c", "d")
    assert files == [f"generated: decode it: {paths}" for paths in fields]


def test_variables_have_the_names_of_fields_and_comments_their_paths() -> None:
    text = specs.api("Fetch").request.codec(12).source()
    assert "session_epoch, topics_count, = unpack_iiiibiiB(b, p)" in text
    assert "# topics[].partitions[].{partition, current_leader_epoch, fetch_offset, " in text
    assert "for topics_item in topics:" in text
