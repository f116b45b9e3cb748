"""Rules that may fire and do nothing: each is said once, and nothing is said of those that may."""

from __future__ import annotations

import pytest

from barnabas.proxy.scenario.file import loads
from barnabas.proxy.scenario.lint.notes import warnings

NEVER = "fires only by `barnabas ctl rule fire`: its probability is 0"


def found(*rules: str) -> list[str]:
    return warnings(loads("version: 1\nrules:\n" + "".join(f"- {{{rule}}}\n" for rule in rules)))


@pytest.mark.parametrize(("rule", "reason"), [
    ("when: {probability: 0}, do: close", NEVER),
    ("when: {phases: [{lasts: 1s, probability: 0}]}, do: close", NEVER),
    ("do: {delay: 0s}", "does nothing with delay: by is 0"),
    ("do: [{delay: 0ms}, duplicate]", "does nothing with delay: by is 0"),
    ("do: {skew: 0s}", "does nothing with skew: by in whole ms is 0"),
    ("do: {skew: 10us}", "does nothing with skew: by in whole ms is 0"),
    ("do: {stall: 0s}", "does nothing with stall: time is 0"),
    ("do: {isolate: 0s}", "does nothing with isolate: lasts is 0"),
])  # fmt: skip
def test_what_does_nothing_is_said(rule: str, reason: str) -> None:
    assert found(f"name: r, {rule}") == [f"warning: rule 'r' {reason}"]


@pytest.mark.parametrize("rule", [
    "do: {delay: {by: 0s, jitter: 5ms}}", "do: {delay: 1ns}", "do: {skew: -1ns}",
    "when: {phases: [{lasts: 1s, probability: 0}, {lasts: 1s}]}, do: close",
    "when: {probability: 0.001}, do: close",
])  # fmt: skip
def test_of_what_may_do_something_nothing_is_said(rule: str) -> None:
    assert found(f"name: r, {rule}") == []


def test_a_rule_may_only_fire_for_another_that_waits_for_it() -> None:
    mark = "name: mark, match: {api: Heartbeat}, do: {delay: 0s}"
    assert found(mark, "name: r, when: {after: {rule: mark}}, do: close") == []
