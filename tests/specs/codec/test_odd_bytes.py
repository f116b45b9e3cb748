"""Bytes that Kafka accepts and never writes are read and listed; what it refuses is, with its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from barnabas import specs
from barnabas.specs.codec import Codec, Malformed
from barnabas.specs.declaration import (
    Array,
    Bool,
    Bytes,
    Int8,
    Int16,
    Int32,
    NullableString,
    String,
    Struct,
)
from tests.golden.frames import golden_codec, golden_lines
from tests.specs.codec import every_kind

TYPES = {
    "flag": Bool,
    "text": String,
    "maybe": NullableString,
    "raw": Bytes,
    "numbers": Array(Int32),
    "numbers or none": Array(Int32).nullable(),
    "counted": Array(Int32).counted(Int16),
    "one": Struct("a" / Int8).nullable(),
    "tagged": Int32.tag(1),
    "tagged one": Struct("a" / Int8).nullable().tag(1).default(None),
    "newer": Int32.since(9).tag(1),
    "inner": Struct("a" / Int8, "b" / Int8.tag(1)),
}


def message(name: str, encoding: str) -> Codec:
    return every_kind.codec_of(every_kind.VERSIONS[encoding], ("x" / TYPES[name],))


LEAST = "length -2147483648 for null"
TAG = "01 01"  # behind a flag: one tagged field


@pytest.mark.parametrize(
    ("name", "encoding", "body", "value", "oddities"),
    [
        ("flag", "classic", "05 aabb", True, [("x", 1, "boolean 5"), ("", 1, "2 trailing bytes")]),
        ("flag", "flexible", "02 00", True, [("x", 1, "boolean 2")]),
        ("flag", "flexible", "01 8000", True, [("_tags", 3, "overlong varint")]),
        ("flag", "flexible", "01 8080808010", True, [("_tags", 6, "varint of more than 32 bits")]),
        ("flag", "flexible", "01 00 ff", True, [("", 2, "1 trailing bytes")]),
        ("flag", "flexible", f"{TAG} 8700 00", True, [("_tags", 4, "overlong varint")]),
        ("flag", "flexible", f"{TAG} ffffffff0f 00", True, [("", 8, "tag number -1")]),
        ("flag", "flexible", "01 02 05 01 61 03 00", True, [("", 7, "tag 3 after tag 5")]),
        ("flag", "flexible", "01 03 05 00 03 00 04 00", True,
         [("", 6, "tag 3 after tag 5"), ("", 8, "tag 4 after tag 5")]),
        ("flag", "flexible", "01 02 05 00 05 00", True, [("", 6, "tag 5 after tag 5")]),
        ("text", "classic", "0001 ff", "\ufffd", [("x", 3, "invalid UTF-8")]),
        ("text", "flexible", "8200 61 00", "a", [("x", 2, "overlong varint")]),
        ("text", "flexible", "8280808010 61 00", "a", [("x", 5, "varint of more than 32 bits")]),
        ("maybe", "classic", "fffe", None, [("x", 2, "length -2 for null")]),
        # less one that is 2147483647 in Java, which is more than there is, and not null
        ("maybe", "flexible", "8180808008 00", None, [("x", 5, LEAST)]),
        ("numbers or none", "classic", "fffffffe", None, [("x", 4, "length -2 for null")]),
        ("numbers or none", "flexible", "8180808008 00", None, [("x", 5, LEAST)]),
        ("one", "classic", "80", None, [("x", 1, "null marker -128")]),
        ("one", "classic", "00 07", {"a": 7}, [("x", 1, "null marker 0")]),
        ("one", "flexible", "fe 00", None, [("x", 1, "null marker -2")]),
        ("one", "flexible", "7f 07 00 00", {"a": 7}, [("x", 1, "null marker 127")]),
        ("one", "flexible", "ff 00", None, []),
        ("tagged one", "flexible", f"{TAG} 03 02 07 00", {"a": 7}, [("x", 4, "null marker 2")]),
        ("tagged one", "flexible", f"{TAG} 01 00", None, [("x", 4, "a tagged field at its default")]),
        ("tagged", "flexible", f"{TAG} 05 00000001", 1, [("x", 7, "4 bytes in a tag of size 5")]),
        ("tagged", "flexible", f"{TAG} 8400 00000001", 1, [("_tags", 4, "overlong varint")]),
        ("inner", "flexible", "07 01 01 02 08 00", {"a": 7, "b": 8},
         [("x.b", 5, "1 bytes in a tag of size 2")]),
        ("inner", "flexible", "07 01 01 01 00 00", {"a": 7, "b": 0},
         [("x.b", 5, "a tagged field at its default")]),
    ],
)  # fmt: skip
def test_odd_bytes_are_read_and_listed(
    name: str, encoding: str, body: str, value: Any, oddities: list[tuple[str, int, str]]
) -> None:
    codec = message(name, encoding)
    data = bytes.fromhex(body)
    found, listed = codec.inspect(data)
    assert found["x"] == value == codec.decode(data)["x"] == codec.project("x")(data)["x"]
    assert listed == oddities
    assert codec.regular(data) in (None, found)
    if "in a tag of size" in repr(oddities):  # which others may read otherwise
        assert codec.regular(data) is None


GOES_ON = "a varint goes on after 5 bytes"
NULL = "null where {} is expected"
ANNOUNCED = "2147483647 elements announced, 8 bytes remain"


@pytest.mark.parametrize(
    ("name", "encoding", "body", "path", "offset", "reason"),
    [
        ("flag", "classic", "", "x", 0, "1 bytes expected for a boolean, 0 remain"),
        ("flag", "flexible", "01 808080808000", "_tags", 1, GOES_ON),
        ("flag", "flexible", "01 ffffffff0f", "_tags", 1, "-1 tagged fields"),
        ("flag", "flexible", f"{TAG} 05 ffffffff0f", "_tags", 8, "size -1 of tag 5"),
        ("flag", "flexible", f"{TAG} 07 02 61", "_tags", 4, "2 bytes expected for tag 7, 1 remain"),
        ("newer", "flexible", "01 01 04 00000001", "_tags", 3, "tag 1 is of another version"),
        ("text", "classic", "ffff", "x", 0, NULL.format("string")),
        ("text", "flexible", "00 00", "x", 0, NULL.format("string")),
        ("text", "flexible", "818002 00", "x", 0, "a string of 32768 bytes; 32767 is the most"),
        ("text", "flexible", "808080808000", "x", 0, GOES_ON),
        ("text", "flexible", "03 61", "x", 0, "2 bytes announced, 1 bytes remain"),
        ("maybe", "flexible", "8080808008", "x", 0, "a string of 2147483647 bytes; 32767 is the most"),
        ("raw", "classic", "ffffffff", "x", 0, NULL.format("bytes")),
        ("raw", "flexible", "05 6161", "x", 0, "4 bytes announced, 2 bytes remain"),
        ("numbers", "classic", "fffffffe", "x", 0, NULL.format("array")),
        ("numbers", "classic", "00000005 00", "x", 0, "5 elements announced, 1 bytes remain"),
        ("numbers", "classic", "7fffffff 00000001 00000002", "x", 0, ANNOUNCED),
        ("numbers", "flexible", "00 00", "x", 0, NULL.format("array")),
        ("numbers", "flexible", "03 00000001 00", "x[1]", 5, "4 bytes expected for int32, 1 remain"),
        ("numbers", "flexible", "8080808008 00000001 00000002", "x", 0, ANNOUNCED),
        ("counted", "classic", "ffff", "x", 0, NULL.format("array")),
        ("counted", "classic", "00", "x", 0, "2 bytes expected for the length of the array, 1 remain"),
        ("one", "flexible", "", "x", 0, "1 bytes expected for a null marker, 0 remain"),
        ("one", "flexible", "01", "x.a", 1, "1 bytes expected for int8, 0 remain"),
        ("inner", "flexible", "07 01 01 00", "x.b", 4, "1 bytes expected for int8, 0 remain"),
        ("inner", "flexible", "07 01 05 ff", "x._tags", 4, "1 bytes expected for a varint, 0 remain"),
    ],
)  # fmt: skip
def test_what_is_malformed_is_refused_with_its_place(
    name: str, encoding: str, body: str, path: str, offset: int, reason: str
) -> None:
    codec, data = message(name, encoding), bytes.fromhex(body)
    readers: list[Callable[[bytes], Any]] = [codec.decode, codec.inspect]
    if "_tags" not in path:
        readers.append(codec.project("x"))
    for read in readers:
        with pytest.raises(Malformed) as caught:
            read(data)
        problem = caught.value
        assert (problem.path, problem.offset, problem.reason) == (path, offset, reason)
    assert codec.regular(data) is None


@pytest.mark.parametrize(
    ("name", "body", "value", "oddity"),
    [
        ("newer", "01 01 04 00000001", {}, "malformed tag 1: _tags at byte 3: tag 1 is of another version"),
        ("tagged", "01 01 02 0001", {"x": 0},
         "malformed tag 1: x at byte 3: 4 bytes expected for int32, 2 remain"),
        ("tagged", "01 01 05 0000000209", {"x": 2}, "4 bytes in a tag of size 5"),
        ("flag", "01", {"x": True}, "no tagged section"),
        ("inner", "07 01 01 01 09", {"x": {"a": 7, "b": 9}}, "no tagged section"),
        ("flag", f"{TAG} 07 02 61", None, None),
        ("flag", f"{TAG} 05 ffffffff0f", None, None),
        ("tagged", "01 01 7f 00000001", {"x": 1}, "4 bytes in a tag of size 127"),
    ],
)  # fmt: skip
def test_a_lenient_reader_skips_malformed_tags_by_their_size(
    name: str, body: str, value: Any, oddity: str | None
) -> None:
    codec, data = message(name, "flexible"), bytes.fromhex(body)
    if value is None:
        with pytest.raises(Malformed):
            codec.inspect(data, lenient=True)
        return
    values, oddities = codec.inspect(data, lenient=True)
    assert values == value
    assert [what for _, _, what in oddities] == [oddity]


def test_oddities_are_bounded_and_the_rest_is_counted() -> None:
    data = b"\1" + b"\x88\x27" + b"\x05\x00" * 5000
    values, oddities = message("flag", "flexible").inspect(data)
    assert values == {"x": True, "_tags": {5: b""}}
    assert len(oddities) == 1001
    assert oddities[-1] == ("", len(data), f"and {4999 - 1000} more oddities")


JAVA = {
    b"a\xed\xa0\x80b": "a\ufffdb",
    b"a\xed\xa0b": "a\ufffdb",
    b"\xed\xb0": "\ufffd",
    b"\xed\x80": "\ufffd",
    b"\xc0\x80": "\ufffd\ufffd",
    b"\xe0\x80\x80": "\ufffd\ufffd\ufffd",
    b"\xe2\x82": "\ufffd",
    b"\xf4\x90\x80\x80": "\ufffd\ufffd\ufffd\ufffd",
    b"\xf0\x9f\x98": "\ufffd",
    b"\xff": "\ufffd",
}
"""What Java's `new String(bytes, UTF_8)` makes of them (OpenJDK 17)."""


@pytest.mark.parametrize("raw", JAVA)
def test_wrong_text_is_replaced_as_java_does(raw: bytes) -> None:
    data = bytes([len(raw) + 1]) + raw + b"\0"
    found = message("text", "flexible").inspect(data)
    assert found == ({"x": JAVA[raw]}, [("x", len(raw) + 1, "invalid UTF-8")])


OF_VERSIONS = {
    "version-Metadata-99": "Kafka's data classes read versions that do not exist; LookupError here",
    "version-Metadata--1": "the same",
    "version-LeaderAndIsr-0": "gone from 4.4.0 and kept here; 3.9.1 reads it as we do",
}
"""Cases about which versions there are, not about bytes."""

REGULAR = {
    "array-null-nullable-ok",
    "flex-array-empty",
    "flex-ok-null-array",
    "flex-string-empty-ok",
    "flex-string-len-32767-full-ok",
    "header-v1-clientid-null-ok",
    "header-v2-clientid-int16-null",
    "knowntag-ok",
    "nullable-struct-minus1-ok",
    "nullable-struct-present-ok",
    "records-garbage-accepted-at-message-level",
    "records-null-ok",
    "flex-records-null-ok",
}
"""Cases that Kafka writes itself: nothing is odd about them."""

CASES = {case["case"]: case for case in golden_lines("malformed") if case["kind"] == "message"}


@pytest.mark.parametrize("name", [name for name in CASES if name not in OF_VERSIONS])
def test_accepted_or_refused_as_kafka_does(name: str) -> None:
    case = CASES[name]
    body, codec = bytes.fromhex(case["hex"]), golden_codec(case)
    if case["4.4.0"]["accepted"]:
        values, oddities = codec.inspect(body)
        assert repr(codec.decode(body)) == repr(values)
        assert bool(oddities) == (name not in REGULAR)
        return
    for read in (codec.decode, codec.inspect):
        with pytest.raises(Malformed) as caught:
            read(body)
        assert 0 <= caught.value.offset <= len(body)
        assert caught.value.reason


def test_cases_about_versions_are_among_them_and_odd_bytes_leave_projections_right() -> None:
    assert CASES.keys() > OF_VERSIONS.keys() | REGULAR
    codec = specs.api("Fetch").request.codec(15)
    body = codec.encode({"cluster_id": "abc", "replica_state": {"replica_id": 5}})
    odd = body.replace(
        b"\x00\x04\x04abc", b"\x00\x03\x04abc"
    )  # a tag of another size than it holds
    assert odd != body
    whole = codec.decode(odd)["replica_state"]
    assert whole["replica_id"] == 5
    assert codec.project("replica_state")(odd) == {"replica_state": whole}
