from __future__ import annotations

import pytest

from barnabas.proxy.scenario.file import loads
from barnabas.proxy.scenario.lint.notes import warnings
from barnabas.proxy.scenario.model import RuleConfig


def found(rule: str) -> list[str]:
    return warnings(loads(f"version: 1\nrules: [{{name: r, {rule}}}]"))


@pytest.mark.parametrize(("rule", "reason"), [
    ("match: {api: Fetch, acks: all}, do: close", "only Produce requests have acks"),
    ("match: {direction: response, acks: 1}, do: close", "only Produce requests have acks"),
    ("match: {direction: request, error: 3}, do: close", "no request has an error code"),
    ("match: {api: LeaderAndIsr, group: g}, do: close", "no LeaderAndIsr message names a group"),
    ("match: {api: Heartbeat, topic: t}, do: close", "no Heartbeat message names a topic"),
    (
        "match: {api: Fetch, direction: request, version: 3}, where: rack_id == 'a', do: close",
        "no field 'rack_id' in the body of Fetch request v3",
    ),
    (
        "match: {api: Fetch, direction: request, version: 3}, do: {edit: {set: {rack_id: a}}}",
        "edit: no field 'rack_id' in the body of Fetch request v3",
    ),
    ("match: {version: 200}, do: close", "close does not apply to any message v200"),
    ("match: {direction: request}, do: {quota: 1s}", "quota applies to responses"),
    ("match: {api: Fetch}, do: {clamp: {versions: {Fetch: 1}}}", "clamp applies to ApiVersions responses"),
    (
        "match: {api: Fetch}, do: {steer: {leader: 1}}",
        "steer applies to Metadata responses and FindCoordinator responses",
    ),
    ("match: {api: SaslHandshake}, do: {quota: 1s}", "quota does not apply to SaslHandshake"),
    (
        "match: {api: Heartbeat, direction: response}, do: {respond: {error: 27}}",
        "respond applies to requests",
    ),
    ("match: {acks: all, error: 3}, do: close", "no message has acks and error at once"),
    (
        "match: {api: [Produce, JoinGroup], topic: t, group: g}, do: close",
        "no message has group and topic at once",
    ),
    (
        "match: {size: {at_least: 2kB, at_most: 1kB}}, do: close",
        "size: at_least (2000) is more than at_most (1000)",
    ),
    ("when: {after: {time: 10s}, until: {time: 5s}}, do: close", "`until` is not later than `after`"),
    ("when: {until: {time: 0s}}, do: close", "`until` is not later than `after`"),
    ("when: {after: {rule: r}}, do: close", "it waits for its own firing"),
])  # fmt: skip
def test_rules_that_can_not_do_anything(rule: str, reason: str) -> None:
    (line,) = found(rule)
    assert line.startswith("warning: rule 'r' never fires: ")
    assert reason in line


@pytest.mark.parametrize("rule", [
    "do: close",
    "do: refuse",
    "match: {acks: 0}, do: close",
    "match: {error: 3}, do: close",
    "match: {api: Heartbeat, direction: response, group: g}, do: close",
    "match: {api: Fetch, direction: request}, where: rack_id == 'a', do: close",
    "match: {api: Metadata}, do: {steer: {leader: 1}}",
    "match: {api: Fetch, version: 13+, topic: t}, do: close",  # by the names of ids
    "match: {api: Heartbeat}, do: {respond: {error: 27}}",
    "match: {direction: response}, do: {respond: {body: {}}}",
    "match: {api: OffsetCommit, group: g, topic: t}, when: {until: {time: 5s}}, do: close",
    "do: {hold: {until: {api: JoinGroup, same: group}}}",
])  # fmt: skip
def test_other_rules_are_fine(rule: str) -> None:
    assert found(rule) == []


def of_rules(*rules: str) -> list[str]:
    named = ", ".join(f"{{name: r{number}, {rule}}}" for number, rule in enumerate(rules))
    return warnings(loads(f"{{version: 1, rules: [{named}]}}"))


def test_rules_that_wait_for_one_that_never_fires() -> None:
    lines = of_rules(
        "match: {api: Fetch, acks: all}, do: close",
        "when: {after: {rule: r0}}, do: close",
        "when: {after: {rule: r1}}, do: close",
        "do: {delay: 1s}",
        "when: {after: {rule: r3}}, do: close",
    )
    assert [line.split("'")[1] for line in lines] == ["r0", "r1", "r2"]
    assert "it waits for rule 'r0', which never fires" in lines[1]
    assert "it waits for rule 'r1', which never fires" in lines[2]


def test_rules_that_wait_for_each_other() -> None:
    lines = of_rules("when: {after: {rule: r1}}, do: close", "when: {after: {rule: r0}}, do: close")
    assert [line.split("'")[1] for line in lines] == ["r0", "r1"]


def test_a_rule_that_waits_for_more_than_another_may_fire() -> None:
    often = "when: {after: {rule: r0, fired: 3}}, do: close"
    (line,) = of_rules("when: {times: 2, scope: rule}, do: close", often)
    assert "it waits for rule 'r0' to fire 3 times, not 2" in line
    assert of_rules("when: {times: 2}, do: close", often) == []  # on each connection


def test_rules_are_told_apart_by_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Comparing all that they say, each with each, takes seconds where there are thousands."""
    monkeypatch.setattr(RuleConfig, "__eq__", None, raising=False)
    rules = ", ".join(f"{{name: r{number}, do: {{delay: 1s}}}}" for number in range(3))
    assert warnings(loads(f"version: 1\nrules: [{rules}]")) == []
