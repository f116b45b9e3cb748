"""Test values by a schema against fastavro, which writes them."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.values.avro import avro_reader
from barnabas.captures.values.schema import Unread

PRIMITIVES: dict[str, Any] = {
    "null": st.none(),
    "boolean": st.booleans(),
    "int": st.integers(-(2**31), 2**31 - 1),
    "long": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(width=32, allow_nan=False),
    "double": st.floats(allow_nan=False),
    "bytes": st.binary(max_size=20),
    "string": st.text(max_size=20),
}


@st.composite
def schemas_and_values(draw: Any, depth: int = 0) -> tuple[Any, Any]:
    kinds = [*PRIMITIVES, *(("array", "map", "record", "enum", "fixed") if depth < 3 else ())]
    kind = draw(st.sampled_from(kinds))
    name = f"N{depth}"
    if kind in PRIMITIVES:
        return kind, draw(PRIMITIVES[kind])
    if kind == "enum":
        return {"type": "enum", "name": name, "symbols": ["A", "B"]}, draw(st.sampled_from("AB"))
    if kind == "fixed":
        return {"type": "fixed", "name": name, "size": 3}, draw(st.binary(min_size=3, max_size=3))
    inner, value = draw(schemas_and_values(depth + 1))
    if kind == "array":
        return {"type": "array", "items": inner}, [value] * draw(st.integers(0, 3))
    if kind == "map":
        return {"type": "map", "values": inner}, dict.fromkeys(
            draw(st.sets(st.text(max_size=3))), value
        )
    fields = [{"name": "a", "type": inner}, {"name": "b", "type": ["null", "long"]}]
    return {"type": "record", "name": name, "fields": fields}, {
        "a": value,
        "b": draw(st.sampled_from([None, 7])),
    }


@given(schemas_and_values())
def test_what_fastavro_writes_is_read(made: tuple[Any, Any]) -> None:
    schema, value = made
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), value)
    assert avro_reader(schema)(out.getvalue()) == value


def test_names_are_those_of_namespaces() -> None:
    inner = {"type": "record", "name": "B", "fields": [{"name": "n", "type": "int"}]}
    schema = {
        "type": "record",
        "name": "A",
        "namespace": "x.y",
        "fields": [
            {"name": "one", "type": inner},
            {"name": "two", "type": "x.y.B"},
            {"name": "three", "type": "B"},
        ],
    }
    assert avro_reader(schema)(b"\2\4\6") == {"one": {"n": 1}, "two": {"n": 2}, "three": {"n": 3}}


def test_types_of_other_schemas_are_found_in_any_order() -> None:
    a = {"type": "record", "name": "x.A", "fields": [{"name": "b", "type": "B"}]}
    b = {"type": "record", "name": "B", "namespace": "x", "fields": [{"name": "n", "type": "int"}]}
    assert avro_reader("x.A", [a, b])(b"\2") == {"b": {"n": 1}}


def test_logical_types_whose_bytes_nobody_reads_are_text() -> None:
    decimal = {"type": "bytes", "logicalType": "decimal", "precision": 60, "scale": 2}
    number = 12345678901234567890123456789012345678901234567890
    data = number.to_bytes(22, signed=True)
    assert avro_reader(decimal)(bytes([44]) + data) == f"{number // 100}.{number % 100}"
    assert avro_reader(decimal)(b"\2\xff") == "-0.01"
    fixed = {"type": "fixed", "name": "U", "size": 16, "logicalType": "uuid"}
    assert avro_reader(fixed)(bytes(15) + b"\1") == "00000000-0000-0000-0000-000000000001"


@pytest.mark.parametrize(
    "schema",
    [
        "nothing",
        {"type": "record"},
        {"type": "array"},
        7,
        None,
        {"type": "fixed", "name": "F"},
        {"type": {"type": 1}},
    ],
)
def test_what_is_no_schema_is_said(schema: Any) -> None:
    with pytest.raises(Unread):
        avro_reader(schema)


@pytest.mark.parametrize(
    ("schema", "data", "why"),
    [
        ("long", b"\x80" * 11, "a number of more than 64 bits"),
        ("long", b"\x80", "the bytes end before a number does"),
        ("string", b"\x08ab", "4 bytes announced, 2 remain"),
        ("string", b"\x01", "-1 bytes announced, 0 remain"),
        ("string", b"\x02\xff", "a string that is not UTF-8"),
        ("boolean", b"\x02", "a boolean of 2"),
        (["null"], b"\x02", "number 1 of 1"),
        ("null", b"\0", "1 bytes after the value"),
    ],
)
def test_bytes_that_do_not_fit_say_why(schema: Any, data: bytes, why: str) -> None:
    with pytest.raises(Unread, match=why):
        avro_reader(schema)(data)


_JSON = st.recursive(
    st.none()
    | st.integers()
    | st.sampled_from([*PRIMITIVES, "A", "x.A", "record", "array", "fixed"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "name", "namespace", "fields", "items", "values", "size", "symbols"]
            )
            | st.sampled_from(["logicalType", "scale"]),
            inner,
            max_size=4,
        )
    ),
)


@given(_JSON, st.lists(_JSON, max_size=2), st.binary(max_size=20))
def test_no_schema_raises_anything_else(schema: Any, known: list[Any], data: bytes) -> None:
    with contextlib.suppress(Unread):
        avro_reader(schema, known)(data)


def test_types_that_refer_to_each_other_in_a_chain_are_bounded() -> None:
    known = [
        {"type": "record", "name": f"N{n}", "fields": [{"name": "a", "type": f"N{n + 1}"}]}
        for n in range(5000)
    ]
    with pytest.raises(Unread, match="too deeply"):
        avro_reader("N0", known)


EMPTY: Any = {"type": "record", "name": "E", "fields": []}


@pytest.mark.parametrize(
    ("items", "count"),
    [
        ("null", 90_000),  # which take no bytes
        (EMPTY, 45_000),
        ({**EMPTY, "fields": [{"name": "n" * 100_000, "type": "null"}]}, 900),
        ({"type": "enum", "name": "E", "symbols": ["n" * 100_000]}, 900),
    ],
)
def test_a_few_bytes_are_not_much(items: Any, count: int) -> None:
    size = count << 1
    length = bytes([size & 0x7F | 0x80, size >> 7 & 0x7F | 0x80, size >> 14])
    data = length + bytes(count if items != "null" and items.get("symbols") else 0) + b"\0"
    with pytest.raises(Unread, match="than its bytes can have"):
        avro_reader({"type": "array", "items": items})(data)


def test_an_enum_of_more_than_names_is_no_schema() -> None:
    with pytest.raises(Unread, match="whose symbols are not names"):
        avro_reader({"type": "enum", "name": "E", "symbols": [["A"]]})
