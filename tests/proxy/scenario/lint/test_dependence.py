from __future__ import annotations

import pytest

from barnabas.proxy.scenario.file import loads
from barnabas.proxy.scenario.lint.notes import remarks
from tests.proxy.playbook import Stage, request


def found(rule: str) -> list[str]:
    return remarks(loads(f"version: 1\nrules: [{{name: r, {rule}}}, {{name: x, do: close}}]"))


@pytest.mark.parametrize(("rule", "reason"), [
    ("do: {throttle: {bytes: 1MB, per: broker}}", "throttle: connections share a rate per broker"),
    ("do: {hold: {until: {same: any}}}", "hold: it waits for messages of any client"),
    ("do: {hold: {messages: 3, same: client}}", "hold: it waits for messages of the same client"),
    ("do: {reorder: {swap: 3, same: group}}", "reorder: it waits for messages of the same group"),
    ("do: {reorder: {shuffle: 3, same: any}}", "reorder: it waits for messages of any client"),
    ("do: {isolate: 1s}", "isolate: it acts on all connections"),
    ("when: {scope: rule}, do: close", "scope: rule counts the matches of all connections"),
    ("when: {after: {rule: x}}, do: close", "it depends on what rule 'x' did on other connections"),
    ("when: {until: {rule: x}}, do: close", "it depends on what rule 'x' did on other connections"),
])  # fmt: skip
def test_rules_that_depend_on_other_connections(rule: str, reason: str) -> None:
    (line,) = found(rule)
    assert line == (
        f"note: rule 'r' is not reproducible live, deterministic in rehearse ({reason})"
    )


@pytest.mark.parametrize("rule", [
    "do: {throttle: {bytes: 1MB}}", "do: {hold: {until: {api: Fetch}}}",
    "do: {hold: {messages: 3}}", "do: {hold: {time: 3s}}", "do: {reorder: {swap: 3}}",
    "when: {after: {time: 1s}, skip: 3}, do: close",
])  # fmt: skip
def test_other_rules_do_not(rule: str) -> None:
    assert found(rule) == []


def test_they_are_said_behind_the_warnings() -> None:
    text = "{name: r, match: {api: Fetch, acks: 1}, when: {scope: rule}, do: close}"
    warning, note = remarks(loads(f"version: 1\nrules: [{text}]"))
    assert warning.startswith("warning: ")
    assert note.startswith("note: ")


@pytest.mark.parametrize("do", ["{delay: 1ms}", "{respond: {error: 27}}"])
@pytest.mark.parametrize(("scope", "depends"), [("rule", {"depends": ["r"]}), ("connection", {})])
def test_the_capture_says_which_rules_do(
    do: str, scope: str, depends: dict[str, list[str]]
) -> None:
    actor = Stage(
        f"version: 1\nrules: [{{name: r, match: {{direction: request}}, when: {{scope: {scope}}}, do: {do}}},"
        " {name: x, do: {delay: 1ms}}]"
    ).actor()
    actor.ask(request("Heartbeat", 1, group_id="g"))
    (comment,) = [cut for cut in actor.cuts if "rules" in cut]
    assert {key: value for key, value in comment.items() if key == "depends"} == depends
