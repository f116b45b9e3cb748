"""Bodies as VARIANT."""

from __future__ import annotations

import base64
import json

import pytest

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.pipeline.rows.bodies import BODY, LIMIT, Body, body_array
from barnabas.specs.frames import DIRECTIONS
from tests.captures.kafka.context.exchanges import ORDERS, exchange, metadata
from tests.pipeline.given import body_text, sample
from tests.samples.recipes import SAMPLES


@pytest.mark.parametrize("name", [name for name, _ in SAMPLES])
def test_without_names_it_is_the_form_of_the_log(name: str) -> None:
    for one, _ in sample(name):
        assert json.loads(body_text(one)) == one.row(DIRECTIONS)


def test_a_name_stands_beside_the_id() -> None:
    context = Context()
    context.learn(metadata(orders=ORDERS))
    asked = exchange("Fetch", 13, {"topics": [{"topic_id": ORDERS, "partitions": []}]})
    (topic,) = json.loads(body_text(asked, context.topics))["request"]["topics"]
    assert topic["topic"] == "orders"
    (unknown,) = json.loads(body_text(asked, {}))["request"]["topics"]
    assert unknown["topic"] is None


def test_secrets_are_not_told() -> None:
    text = body_text(exchange("SaslAuthenticate", 0, {"auth_bytes": b"hunter2"}))
    assert "redacted" in text
    assert "hunter2" not in text
    assert base64.b64encode(b"hunter2").decode() not in text


def test_numbers_that_json_lacks_are_text() -> None:
    op = {"key": "producer_byte_rate", "value": float("nan"), "remove": False}
    entry = {"entity": [], "ops": [op]}
    text = body_text(exchange("AlterClientQuotas", 0, {"entries": [entry], "validate_only": False}))
    assert '"nan"' in text


def test_a_version_that_nobody_knows_and_its_refusal() -> None:
    """The request can't be read, the answer to it can."""
    refused = Exchange(0, 1, "", None, None, 18, 77, 0, 0, request_body=b"\0\2xx")
    refused.response_body = bytes.fromhex("0023 00000001 0012 0000 0003")
    (offered,) = json.loads(body_text(refused, {}))["response"]["api_keys"]
    assert offered == {"api_key": 18, "min_version": 0, "max_version": 3}
    unknown = Exchange(0, 1, "", None, None, 999, 0, 0, 0, request_body=b"x", response_body=b"y")
    assert json.loads(body_text(unknown, {})) == {"request": None, "response": None}


def test_what_is_too_large_for_spark_is_null() -> None:
    bodies_made = body_array([Body(b"v" * (LIMIT + 1), b"m"), Body(b"v" * 3, b"m")])
    assert bodies_made.type == body_array([]).type == BODY
    assert bodies_made.to_pylist() == [None, {"value": b"vvv", "metadata": b"m"}]
