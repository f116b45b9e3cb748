"""`times` without `scope: rule` beside a fault after which the client opens another connection."""

from __future__ import annotations

import pytest

from barnabas.proxy.scenario.file import loads
from barnabas.proxy.scenario.lint import again
from barnabas.proxy.scenario.lint.notes import advice, remarks
from tests.proxy.playbook import Stage, request


def found(rule: str) -> list[str]:
    return [reason for _, reason in again.check(loads(f"version: 1\nrules: [{{name: r, {rule}}}]"))]


@pytest.mark.parametrize("do", [
    "blackhole", "close", "drop", "half_close", "lose_reply", "reset", "{truncate: 10B}",
])  # fmt: skip
def test_a_fault_that_ends_the_connection_is_said_to_come_again(do: str) -> None:
    (line,) = found(f"when: {{times: 1}}, do: {do}")
    name = do.strip("{}").partition(":")[0]
    assert f"and {name} makes the client open another one, on which the rule fires again" in line


@pytest.mark.parametrize("rule", [
    "do: close", "when: {times: 1, scope: rule}, do: close", "when: {times: 1}, do: {delay: 1ms}",
    "match: {connection: 0}, when: {times: 1}, do: close",
])  # fmt: skip
def test_other_rules_do_not_come_again(rule: str) -> None:
    assert found(rule) == []


def test_it_is_said_once_of_a_rule_and_not_when_a_proxy_starts() -> None:
    scenario = loads(
        "version: 1\nrules: [{name: r, when: {times: 1}, do: [lose_reply, half_close]}]"
    )
    (line,) = advice(scenario)
    assert line.startswith("note: rule 'r': times counts on each connection, and lose_reply ")
    assert remarks(scenario) == []


@pytest.mark.parametrize(("scope", "cut"), [("connection", [True, True]), ("rule", [True, False])])
def test_it_is_as_it_says(scope: str, cut: list[bool]) -> None:
    stage = Stage(
        f"version: 1\nrules: [{{name: r, when: {{times: 1, scope: {scope}}}, do: lose_reply}}]"
    )
    actors = [stage.actor(), stage.actor()]
    for actor in actors:
        actor.ask(request("Heartbeat", 1, group_id="g"))
    assert [any("rules" in one for one in actor.cuts) for actor in actors] == cut
