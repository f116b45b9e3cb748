"""How a scenario writes things, in code and in its JSON Schema."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.designs.consumer_rewrite.schemas.rewrite_a import REWRITE_A
from barnabas.proxy.faults.delay import Delay
from barnabas.proxy.faults.hold import Hold
from barnabas.proxy.matching.notation import SizeRange, api_key, api_schema, error_code, one_or_more
from barnabas.proxy.matching.settings import some_of

jsonschema = pytest.importorskip("jsonschema")


@pytest.mark.parametrize(("schema", "right", "wrong"), [
    (api_schema, ["Fetch", "fetch", "Own", "own", 0, 68], ["fEtch", "Owner", -1, 10_000, 1.5]),
    (lambda _: one_or_more({"type": "string"}), ["a", ["a", "b"]], [[], 1, ["a", 1]]),
    (lambda _: some_of("a", "b"), [{"a": 1}, {"b": 1}, {"a": 1, "b": 2}], [{}, {"c": 1}]),
], ids=["api", "one or more", "some of"])  # fmt: skip
def test_a_schema_takes_what_is_right(schema: Any, right: list[Any], wrong: list[Any]) -> None:
    validator = jsonschema.Draft202012Validator(schema(["Own"]))
    assert [value for value in right if not validator.is_valid(value)] == []
    assert [value for value in wrong if validator.is_valid(value)] == []


def test_a_duration_has_its_default_with_a_unit_if_it_has_one() -> None:
    assert Hold.model_json_schema()["properties"]["at_most"]["default"] == "30s"
    assert "default" not in Delay.model_json_schema()["properties"]["by"]


def test_a_dialects_own_errors_come_first() -> None:
    for error in REWRITE_A.errors:
        assert error_code(error.name.lower(), REWRITE_A) == error.code
    assert error_code("none", REWRITE_A) == 0
    with pytest.raises(ValueError, match="did you mean"):
        error_code(REWRITE_A.errors[0].name + "X", REWRITE_A)


@pytest.mark.parametrize("value", [None, True, 1.5, []])
def test_what_is_no_name_or_key_of_an_api_is_a_value_error(value: object) -> None:
    with pytest.raises(ValueError, match="expected the name or key of an API, not"):
        api_key(value)


def test_sizes_of_frames_are_without_their_size_field() -> None:
    assert SizeRange.model_validate({"at_least": "10B", "at_most": "20B"}).frames == range(6, 17)
