"""Whether a scenario has something to do where a client does a workload: known before it is run."""

from __future__ import annotations

from collections.abc import Collection

from barnabas.proxy.faults import CONNECTIONS
from barnabas.proxy.scenario.model import RuleConfig, Scenario
from barnabas.specs.frames import DIRECTIONS
from barnabas.specs.registry import key_of

Asked = tuple[str, int]
"""The name of an API, and the version that was asked for."""


def may_meet(scenario: Scenario, asked: Collection[Asked]) -> bool:
    """Whether a rule is about a request of these or about its response: nothing else changes what a client
    asks, before a rule fires.

    >>> from barnabas.proxy.scenario.file import loads
    >>> rules = "version: 1\\nrules: [{name: r, match: {api: Produce, version: 3-8}, do: drop}]"
    >>> may_meet(loads(rules), {("Produce", 7), ("Metadata", 9)}), may_meet(loads(rules), {("Produce", 9)})
    (True, False)
    """
    return any(_may_meet(rule, asked) for rule in scenario.rules)


def _may_meet(rule: RuleConfig, asked: Collection[Asked]) -> bool:
    if isinstance(rule.do[0].config, CONNECTIONS):
        return True
    return any(
        rule.match.key_matches(direction, key_of(api), version)
        for api, version in asked
        for direction in DIRECTIONS
    )
