"""JSON as Go reads and writes it. What Go says was taken from toxiproxy's own server."""

from __future__ import annotations

import contextlib
import struct
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from barnabas.proxy.toxiproxy.go_json import JsonError, fill, float32, plain, read, write

EOF = "unexpected EOF"


@pytest.mark.parametrize(("body", "said"), [
    (b"", "EOF"),
    (b" \n", "EOF"),
    (b"{", EOF),
    (b'{"a":"\\', EOF),
    (b'{"a":"\\u12', EOF),
    (b"[1.", EOF),
    (b"1e", EOF),
    (b"tru", EOF),
    (b"x", "invalid character 'x' looking for beginning of value"),
    (b"\xef\xbb\xbf{}", "invalid character 'ï' looking for beginning of value"),
    (b"{'a'", "invalid character '\\'' looking for beginning of object key string"),
    (b'{"a" "', "invalid character '\"' after object key"),
    (b'{"a":1 2}', "invalid character '2' after object key:value pair"),
    (b'{"a":[{}] 2}', "invalid character '2' after object key:value pair"),
    (b'{"a":["]}" 2', "invalid character '2' after array element"),
    (b"[1,]", "invalid character ']' looking for beginning of value"),
    (b'{"a":1 , }', "invalid character '}' looking for beginning of object key string"),
    (b"[fals]", "invalid character ']' in literal false (expecting 'e')"),
    (b"[-x]", "invalid character 'x' in numeric literal"),
    (b"[1.x]", "invalid character 'x' after decimal point in numeric literal"),
    (b"[1e+x]", "invalid character 'x' in exponent of numeric literal"),
    (b"[01]", "invalid character '1' after array element"),
    (b"[NaN]", "invalid character 'N' looking for beginning of value"),
    (b"[-Infinity]", "invalid character 'I' in numeric literal"),
    (b'["\x01"]', "invalid character '\\x01' in string literal"),
    (b'["\\q"]', "invalid character 'q' in string escape code"),
    (b'["\\u12g4"]', "invalid character 'g' in \\u hexadecimal character escape"),
    (b"[" * 100_000, "exceeded max depth"),
])  # fmt: skip
def test_what_can_not_be_read_is_said_in_gos_words(body: bytes, said: str) -> None:
    with pytest.raises(JsonError) as found:
        read(body)
    assert str(found.value) == said


@given(st.binary(max_size=40))
def test_whatever_comes_is_read_or_refused(body: bytes) -> None:
    with contextlib.suppress(JsonError):
        read(body)


FIELDS = {"name": "string", "enabled": "bool", "rate": "int64", "toxicity": "float32"}


def test_fields_are_known_in_any_case_and_null_changes_nothing() -> None:
    target: dict[str, Any] = {"name": "before", "enabled": True}
    fill(target, read(b'{"NAME":null,"Rate":5,"more":[1],"enabled":false}'), FIELDS, "T", "T")
    assert target == {"name": "before", "enabled": False, "rate": 5}
    fill(target, None, FIELDS, "T", "T")
    assert target["rate"] == 5


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"[]", "array into Go value of type p.T"),
        (b'{"name":1}', "number into Go struct field T.at.name of type string"),
        (b'{"enabled":{}}', "object into Go struct field T.at.enabled of type bool"),
        (b'{"rate":true}', "bool into Go struct field T.at.rate of type int64"),
        (b'{"rate":1e3}', "number 1e3 into Go struct field T.at.rate of type int64"),
        (
            b'{"rate":9223372036854775808}',
            "number 9223372036854775808 into Go struct field T.at.rate of type int64",
        ),
        (b'{"toxicity":1e39}', "number 1e39 into Go struct field T.at.toxicity of type float32"),
        (b'{"toxicity":1e999}', "number 1e999 into Go struct field T.at.toxicity of type float32"),
    ],
)
def test_a_value_of_another_type_is_refused(body: bytes, said: str) -> None:
    with pytest.raises(JsonError) as found:
        fill({}, read(body), FIELDS, "p.T", "T", "at.")
    assert str(found.value) == f"json: cannot unmarshal {said}"


def test_what_is_right_is_taken_though_something_is_wrong() -> None:
    target: dict[str, Any] = {}
    with pytest.raises(JsonError, match=r"T\.name"):
        fill(target, read(b'{"name":1,"rate":2,"enabled":3}'), FIELDS, "T", "T")
    assert target == {"rate": 2}


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
@example(3.4025001647762064e38)
def test_a_float_of_32_bits_is_read_back_as_it_was(value: float) -> None:
    text = write(float32(value)).decode()
    assert struct.pack("f", float(text)) == struct.pack("f", value)


def test_markup_is_escaped() -> None:
    assert write({"a": "<&>\u2028é"}) == '{"a":"\\u003c\\u0026\\u003e\\u2028é"}'.encode()


def test_names_that_utf_8_has_not_are_replaced() -> None:
    target: dict[str, Any] = {}
    fill(target, read(b'{"name":"a\\ud800\xff"}'), FIELDS, "T", "T")
    assert write(target) == '{"name":"a\ufffd\ufffd"}'.encode()


def test_what_is_kept_can_be_written() -> None:
    kept = plain(read(b'{"\\ud800":["\\udfff"]}'))
    assert write(kept) == '{"\ufffd":["\ufffd"]}'.encode()
    write(plain(read(b"[" * 100 + b"]" * 100)))
    with pytest.raises(JsonError, match="exceeded max depth"):
        plain(read(b"[" * 200 + b"]" * 200))
