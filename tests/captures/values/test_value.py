from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.values.schema import MAX_BYTES, VALUES, Schema, Unread
from barnabas.captures.values.value import Value, Values
from barnabas.cli.schemas.compiler import compiled
from tests.captures.values import golden_values as golden


@pytest.mark.parametrize("name", golden.READ)
def test_what_serializers_write_is_read_by_its_schema(name: str) -> None:
    data, headers = golden.VALUES[name]
    result = Values(golden.lookup).read(data, headers)
    assert (result.kind, result.value) == golden.READ[name]
    assert result.schema is not None
    assert result.reason == ""


def test_an_id_of_eight_bytes_is_one_where_that_is_said() -> None:
    data = golden.VALUES["avro"].data
    wide = data[:1] + bytes(4) + data[1:]
    assert Values(golden.lookup, id_bytes=8).read(wide).value == golden.AVRO
    assert Values(golden.lookup).read(wide).kind == "bytes"


@pytest.mark.parametrize(
    ("data", "kind", "value"),
    [
        (None, "null", None),
        (b"", "text", ""),
        (b"order-17", "text", "order-17"),
        (b"17", "text", "17"),
        ("grün\n".encode(), "text", "grün\n"),
        (b'{"a": [1, null]}', "json", {"a": [1, None]}),
        (b' {"a": 1}', "text", ' {"a": 1}'),
        (b"{no json", "text", "{no json"),
        (b"[1]", "json", [1]),
        (b"\xff\xfe", "bytes", b"\xff\xfe"),
        (b"\0\0\0\1", "bytes", b"\0\0\0\1"),  # an int32
        (bytes(8), "bytes", bytes(8)),  # an int64: no schema has the id 0
        (b"[" * 100_000, "text", "[" * 100_000),
        (b"[" * 500 + b"]" * 500, "text", "[" * 500 + "]" * 500),
    ],
)
def test_what_bytes_are_without_a_schema(data: bytes | None, kind: str, value: Any) -> None:
    result = Values().read(data)
    assert (result.kind, result.value) == (kind, value)
    assert bool(result.reason) == (kind == "bytes")


def test_json_behind_an_id_needs_no_schema() -> None:
    data = golden.VALUES["json schema"].data
    assert Values().read(data) == Value({"order_id": 17}, "json schema", 3)


def test_a_long_value_is_not_read() -> None:
    result = Values().read(b"[" + b"1," * MAX_BYTES + b"1]")
    assert result.kind == "bytes"
    assert "more than are decoded" in result.reason


HOSTILE = [
    compiled("AVRO", '{"type":"array","items":"null"}', {}),
    compiled("AVRO", '{"type":"record","name":"A","fields":[{"name":"a","type":"A"}]}', {}),
    compiled("AVRO", '{"type":"map","values":{"type":"array","items":["null","long"]}}', {}),
    compiled(
        "AVRO",
        '{"type":"record","name":"A","fields":[{"name":"a","type":["null","A",'
        '{"type":"array","items":"A"}]},{"name":"b","type":{"type":"fixed","name":"F","size":0}}]}',
        {},
    ),
    compiled(
        "PROTOBUF", 'syntax="proto3"; message A { repeated A a = 1; map<int32, A> b = 2; }', {}
    ),
]
BOMBS = [
    b"",  # a message index without numbers
    b"\2",
    bytes.fromhex("feffffffff1f"),  # 2^31 - 1 of them
    bytes.fromhex("01feffffffff1f00"),
    bytes.fromhex("ffffffffffffffffff01"),
    b"\2" * 1000,
    b"\2\0" * 1000,
    b"\x00" + b"\x0a\x00" * 200_000,
]


@pytest.mark.parametrize("schema", HOSTILE)
@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_is_bounded(schema: Schema, bomb: bytes) -> None:
    began = time.process_time()
    result = Values(lambda _: schema).read(b"\0\0\0\0\1" + bomb)
    assert time.process_time() - began < 5
    assert _count(result.value) <= VALUES + 1


@given(
    st.binary(max_size=200),
    st.sampled_from([b"", b"\0\0\0\0\2", b"\0\0\0\0\5\0", b"\0\0\0\0\3", b"{", b"["]),
    st.sampled_from([golden.lookup, *((lambda s: lambda _: s)(one) for one in HOSTILE)]),
)
def test_no_bytes_raise(data: bytes, start: bytes, lookup: Any) -> None:
    result = Values(lookup).read(start + data, [("__value_schema_id", data)])
    assert (result.kind == "bytes") == bool(result.reason)


def _count(value: Any) -> int:
    count, level = 0, [value]
    while level:
        one = level.pop()
        count += 1
        if isinstance(one, dict):
            level += one.values()
        elif isinstance(one, list):
            level += one
    return count


def test_long_names_of_a_protobuf_schema_count_in_the_bound() -> None:
    name = "n" * 30_000
    fields = f"message B {{ int32 {name} = 1; }} enum E {{ {name}_ = 0; }}"
    read = compiled(
        "PROTOBUF",
        f'syntax="proto3"; message A {{ repeated B b = 1; repeated E e = 2; }} {fields}',
        {},
    ).read
    for data in (b"\x0a\0" * 100, b"\x12\x64" + bytes(100)):
        with pytest.raises(Unread, match="more than 100,000 values"):
            read(b"\0" + data)
