"""The check whether a scenario can affect a client's workload, before it is run."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from barnabas.proxy.faults import CONNECTIONS
from barnabas.proxy.scenario.model import RuleConfig, Scenario
from barnabas.specs.frames import DIRECTIONS
from barnabas.specs.registry import key_of

RequestedApi = tuple[str, int]
"""The name of an API, and the requested version."""


def may_affect(scenario: Scenario, requested: Collection[RequestedApi]) -> bool:
    r"""Return whether a rule matches a request of the workload without faults, or its response.

    Before a rule fires, the client sends the same requests as without faults. A rule that begins or ends with
    another rule requires that one to match, too: a fault that never ends is no test of a client.

    >>> from barnabas.proxy.scenario.file import loads
    >>> rules = "version: 1\nrules: [{name: r, match: {api: Produce, version: 3-8}, do: drop}]"
    >>> [may_affect(loads(rules), {("Produce", version)}) for version in (7, 9)]
    [True, False]
    """
    rules = {rule.name: rule for rule in scenario.rules}
    return any(
        all(_matches_request(rules[name], requested) for name in _required_rules(rule, rules))
        for rule in rules
    )


def _required_rules(name: str, rules: Mapping[str, RuleConfig]) -> set[str]:
    """Return a rule and all rules that it begins or ends with."""
    needed, others = set[str](), [name]
    while others:
        needed.add(current := others.pop())
        when = rules[current].when
        named = [point.rule for point in (when.after, when.until) if point is not None]
        others += [rule for rule in named if rule is not None and rule not in needed]
    return needed


def _matches_request(rule: RuleConfig, requested: Collection[RequestedApi]) -> bool:
    if isinstance(rule.do[0].config, CONNECTIONS):
        return True
    return any(
        rule.match.key_matches(direction, key_of(api), version)
        for api, version in requested
        for direction in DIRECTIONS
    )
