"""Whether a scenario has something to do where a client does a workload: known before it is run."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from barnabas.proxy.faults import CONNECTIONS
from barnabas.proxy.scenario.model import RuleConfig, Scenario
from barnabas.specs.frames import DIRECTIONS
from barnabas.specs.registry import key_of

Asked = tuple[str, int]
"""The name of an API, and the version that was asked for."""


def may_meet(scenario: Scenario, asked: Collection[Asked]) -> bool:
    """Whether a rule is about a request of these or about its response: nothing else changes what a client
    asks, before a rule fires. One that begins or ends with another rule needs that one, too: a fault that
    never ends says nothing of a client.

    >>> from barnabas.proxy.scenario.file import loads
    >>> rules = "version: 1\\nrules: [{name: r, match: {api: Produce, version: 3-8}, do: drop}]"
    >>> may_meet(loads(rules), {("Produce", 7), ("Metadata", 9)}), may_meet(loads(rules), {("Produce", 9)})
    (True, False)
    """
    rules = {rule.name: rule for rule in scenario.rules}
    return any(all(_asked(rules[name], asked) for name in _needed(one, rules)) for one in rules)


def _needed(name: str, rules: Mapping[str, RuleConfig]) -> set[str]:
    """A rule and all that it begins or ends with."""
    found, others = set[str](), [name]
    while others:
        found.add(one := others.pop())
        when = rules[one].when
        named = [point.rule for point in (when.after, when.until) if point is not None]
        others += [rule for rule in named if rule is not None and rule not in found]
    return found


def _asked(rule: RuleConfig, asked: Collection[Asked]) -> bool:
    if isinstance(rule.do[0].config, CONNECTIONS):
        return True
    return any(
        rule.match.key_matches(direction, key_of(api), version)
        for api, version in asked
        for direction in DIRECTIONS
    )
