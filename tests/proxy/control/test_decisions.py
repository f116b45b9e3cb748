from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from barnabas.proxy.connection.breakpoints import Waiting
from barnabas.proxy.control.decisions import as_scenario, wanted
from barnabas.proxy.scenario.errors import ScenarioError
from barnabas.proxy.scenario.file import loads
from tests.proxy.faults.given import halted, requests, stage
from tests.proxy.playbook import Stage

BREAKPOINT = """
version: 1
rules:
- name: look
  match: {api: [Heartbeat, Metadata], group: "g*", client_id: "*"}
  where: generation_id == `1`
  do: breakpoint
"""


def waiting(client: str | None = "me") -> Waiting:
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
    assert wanted(text) == found


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
