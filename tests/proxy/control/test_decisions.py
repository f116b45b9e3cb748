from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest

from barnabas.captures.writing.masking import Masking
from barnabas.proxy.connection.breakpoints import HaltedMessage
from barnabas.proxy.control import message_body
from barnabas.proxy.control.bodies import json_response
from barnabas.proxy.control.decisions import as_scenario, parse_decision
from barnabas.proxy.control.message_body import RECORDS, SHOWN, shown
from barnabas.proxy.scenario.errors import ScenarioError
from barnabas.proxy.scenario.file import loads
from barnabas.specs.json_text import number
from barnabas.specs.records import Record, build
from tests.proxy.faults.given import halted, produce, requests, stage
from tests.proxy.playbook import Stage

BREAKPOINT = """
version: 1
rules:
- name: look
  match: {api: [Heartbeat, Metadata], group: "g*", client_id: "*"}
  where: generation_id == `1`
  do: breakpoint
"""


def waiting(client: str | None = "me") -> HaltedMessage:
    actor = stage("breakpoint")
    actor.ask(requests(1))
    (found,) = halted(actor)
    return replace(found, rule="look", client_id=client)


@pytest.mark.parametrize(("text", "found"), [
    ("", None),
    ("{}", None),
    ("null", None),
    ("drop", "drop"),
    ('"reset"', "reset"),
    ("{respond: {error: NOT_COORDINATOR}}", {"respond": {"error": "NOT_COORDINATOR"}}),
    ('{"edit": {"set": {"a": "\\ud83d\\ude00"}}}', {"edit": {"set": {"a": "\U0001f600"}}}),
    ("[{edit: {set: {a: 1}}}, close]", [{"edit": {"set": {"a": 1}}}, "close"]),
])  # fmt: skip
def test_it_is_what_a_rule_would_do(text: str, found: Any) -> None:
    assert parse_decision(text) == found


def test_it_becomes_a_rule_for_such_a_message_of_this_client_that_fires_once() -> None:
    text = as_scenario({"edit": {"set": {"member_id": "x"}}}, waiting(), BREAKPOINT)
    (rule,) = loads(text).rules
    assert rule.name == "Heartbeat request as at breakpoint 1.1"
    assert rule.match.model_dump(exclude_unset=True) == {
        "api": frozenset({12}), "group": ("g*",), "client_id": ("me",), "direction": "request",
    }  # fmt: skip
    assert rule.where == "generation_id == `1`"
    actor = Stage(text).actor()
    actor.ask(requests(5, 6))
    first, second = actor.frames("request")
    assert (second, first.replace(b"\0\1x", b"\0\1m")) == (requests(6), requests(5))
    assert first != requests(5)


@pytest.mark.parametrize("client", ["a*", "[x]?", None, ""])
def test_a_client_id_is_no_pattern(client: str | None) -> None:
    (rule,) = loads(as_scenario("drop", waiting(client))).rules
    assert rule.match.peer_matches(client, 1, 0)
    assert rule.match.peer_matches("ab", 1, 0) is (not client)


def test_what_is_nested_too_deep_is_refused() -> None:
    deep: Any = "x"
    for _ in range(900):
        deep = [deep]
    with pytest.raises(ScenarioError, match="nested"):
        as_scenario({"edit": {"set": {"member_id": json.loads(json.dumps(deep))}}}, waiting())


PATH = "topic_data[0].partition_data[0].records"


def of(records: bytes) -> dict[str, Any]:
    actor = stage("breakpoint", "{api: Produce}")
    actor.ask(produce(1, 1, records))
    return shown(actor.connection.breakpoints.message("1.1"), Masking())


def test_fields_have_their_types_and_records_their_texts() -> None:
    headers = (("trace", b"1\xff"), ("none", None))
    records = [Record(0, 5, None, "ä".encode()), Record(1, 5, b"k", b"\xff", headers)]
    found = of(build(records))
    partition = "topic_data[].partition_data[]."
    assert found["types"] == {
        "transactional_id": "string", "acks": "int16", "timeout_ms": "int32", "topic_data[].name": "string",
        f"{partition}index": "int32", f"{partition}records": "records",
    }  # fmt: skip
    assert found["records"] == {PATH: [
        {"offset": 0, "timestamp": 5, "key": None, "value": "ä", "base64": False, "headers": []},
        {"offset": 1, "timestamp": 5, "key": "aw==", "value": "/w==", "base64": True,
         "headers": [["trace", "Mf8="], ["none", None]]},
    ]}  # fmt: skip


def test_records_are_shown_as_far_as_they_go() -> None:
    many = build([Record(n, 5, None, b"x") for n in range(RECORDS + 1)])
    assert len(of(many)["records"][PATH]) == RECORDS
    large = build([Record(n, 5, None, b"x" * (SHOWN // 2)) for n in range(5)], compression="gzip")
    assert len(of(large)["records"][PATH]) == 2
    bomb = build([Record(0, 5, None, bytes(message_body.MAX_OUTPUT))], compression="gzip")
    assert len(of(bomb)["records"][PATH]) == 0
    assert of(many[:70] + b"\xff" * 9)["records"] == {PATH: []}


def test_an_answer_is_json_though_a_body_has_numbers_that_json_lacks() -> None:
    odd = [number(value) for value in (math.nan, math.inf, -math.inf, 0.5)]
    answer = bytes(json_response({"NaN": "Infinity", "values": odd}).body)
    assert json.loads(answer) == {
        "NaN": "Infinity",
        "values": ["NaN", "Infinity", "-Infinity", 0.5],
    }
