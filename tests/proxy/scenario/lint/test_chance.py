"""Rules whose chance goes by the order of a client's connections."""

from __future__ import annotations

import pytest

from barnabas.proxy.scenario.file import loads
from barnabas.proxy.scenario.lint.notes import advice, remarks
from tests.proxy.playbook import Stage, request


def found(when: str) -> list[str]:
    return advice(loads(f"version: 1\nrules: [{{name: r, when: {{{when}}}, do: {{delay: 1ms}}}}]"))


@pytest.mark.parametrize("when", [
    "probability: 0.5", "phases: [{lasts: 1s, probability: 0.5}, {lasts: 1s}]",
    "probability: 0.5, phases: [{lasts: 1s}, {lasts: 1s, probability: 0}]",
])  # fmt: skip
def test_a_share_of_the_matches_goes_by_the_connections_place(when: str) -> None:
    (line,) = found(when)
    assert line.startswith(
        "note: rule 'r': its chance goes by the order in which a client opens its connections"
    )


@pytest.mark.parametrize("when", [
    "probability: 1.0", "probability: 0", "phases: [{lasts: 1s}, {lasts: 1s, probability: 0}]",
    "probability: 0.5, scope: rule", "probability: 0.5, key: group_id",
])  # fmt: skip
def test_nothing_is_said_where_chance_goes_by_something_else(when: str) -> None:
    assert found(when) == []


def test_it_is_not_said_when_a_proxy_starts() -> None:
    text = "version: 1\nrules: [{name: r, when: {probability: 0.5}, do: {delay: 1ms}}]"
    assert remarks(loads(text)) == []


@pytest.mark.parametrize(("key", "alike"), [("", False), (", key: group_id", True)])
def test_connections_of_one_client_meet_other_decisions_by_their_order(
    key: str, alike: bool
) -> None:
    stage = Stage(
        f"version: 1\nrules: [{{name: r, when: {{probability: 0.5{key}}}, do: {{delay: 1ms}}}}]"
    )
    decisions = []
    for _ in range(20):
        actor = stage.actor()
        actor.ask(request("Heartbeat", 1, group_id="g"))
        decisions.append(any("rules" in one for one in actor.cuts))
    assert (len(set(decisions)) == 1) == alike
