"""Bodies of requests are read as toxiproxy reads them, whatever they are."""

from __future__ import annotations

import contextlib
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.proxy.toxiproxy.bodies import read, take
from barnabas.proxy.toxiproxy.errors import ApiError

FIELDS = {"name": str, "enabled": bool, "rate": int, "toxicity": float, "more": dict}


@pytest.mark.parametrize(
    "body", [b"", b" ", b"{", b"x", b'{"a":1,}', b"[NaN]", b"[1e400]", b'["\x01"]', b"[" * 100_000]
)
def test_what_is_no_json_is_refused(body: bytes) -> None:
    with pytest.raises(ApiError, match=r"^bad request body: ") as found:
        read(body)
    assert found.value.status == 400


@given(st.binary(max_size=40))
def test_whatever_is_read_can_be_written(body: bytes) -> None:
    with contextlib.suppress(ApiError):
        orjson.dumps(read(body))


def test_what_can_not_be_written_is_refused_or_replaced() -> None:
    with pytest.raises(ApiError):
        read(b"[" * 300 + b"]" * 300)
    assert read(b'{"\\ud800":["\\udfff", "\xff"]}') == {"\ufffd": ["\ufffd", "\ufffd"]}


def test_fields_are_known_in_any_case_and_null_changes_nothing() -> None:
    target: dict[str, Any] = {"name": "before", "enabled": True}
    body = (
        b'{"NAME":null,"Rate":5,"else":[1],"enabled":false,"toxicity":1,"more":{"a":1}} and so on'
    )
    take(target, read(body), FIELDS, "it")
    wanted = {"name": "before", "enabled": False, "rate": 5, "toxicity": 1, "more": {"a": 1}}
    assert target == wanted
    take(target, None, FIELDS, "it")
    assert target == wanted


@pytest.mark.parametrize(("body", "said"), [
    (b"[]", "it must be an object"),
    (b'{"name":1}', "name of it must be text"),
    (b'{"enabled":1}', "enabled of it must be a boolean"),
    (b'{"rate":true}', "rate of it must be a whole number"),
    (b'{"rate":1e3}', "rate of it must be a whole number"),
    (b'{"rate":9223372036854775808}', "rate of it must be a whole number"),
    (b'{"toxicity":1e39}', "toxicity of it must be a number"),
    (b'{"toxicity":false}', "toxicity of it must be a number"),
    (b'{"more":[]}', "more of it must be an object"),
])  # fmt: skip
def test_a_value_of_another_type_is_refused(body: bytes, said: str) -> None:
    with pytest.raises(ApiError, match=f"^bad request body: {said}$"):
        take({}, read(body), FIELDS, "it")
