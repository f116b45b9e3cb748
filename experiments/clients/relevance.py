"""The rules of a scenario that can affect a client's workload, and those that are the scenario's point."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from barnabas.proxy.faults import CONNECTIONS
from barnabas.proxy.faults.delay import Delay
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
    return bool(applicable_rules(scenario, requested))


def applicable_rules(
    scenario: Scenario, requested: Collection[RequestedApi]
) -> dict[str, RuleConfig]:
    """Return the rules that match a request of the client, or its response, by name."""
    rules = {rule.name: rule for rule in scenario.rules}
    return {
        name: rule
        for name, rule in rules.items()
        if all(_matches_request(rules[each], requested) for each in _required_rules(name, rules))
    }


def point(scenario: Scenario, requested: Collection[RequestedApi]) -> tuple[frozenset[str], ...]:
    r"""Return the rules that are the scenario's point for a client, as groups of names.

    The scenario is met if a rule of each group fired. Rules for the same APIs are one group: a client meets
    one or the other. Rules that prepare others are not the point: a rule after which another one begins, a
    delay that ends another one, or a delay next to another fault for the same APIs. Neither are rules that
    depend on chance, or that another one may end before they match, unless there are no others.

    >>> from barnabas.proxy.scenario.file import loads
    >>> slow = "{name: slow, match: {api: Produce, direction: response}, do: {delay: 1s}}"
    >>> refused = "{name: refused, match: {api: Produce, direction: request}, when: {skip: 9}, do: close}"
    >>> point(loads(f"version: 1\nrules: [{slow}, {refused}]"), {("Produce", 9)})
    (frozenset({'refused'}),)
    """
    rules = applicable_rules(scenario, requested)
    last = {
        name: rule for name, rule in rules.items() if not _prepares(rule, rules.values())
    } or rules
    certain = {
        name: rule
        for name, rule in last.items()
        if rule.when.probability == 1
        and not rule.when.phases
        and not (rule.when.until is not None and rule.when.until.rule in last)
    }
    if not certain:
        return (frozenset(last),) if last else ()
    groups: dict[frozenset[int] | None, set[str]] = {}
    for name, rule in certain.items():
        groups.setdefault(rule.match.api, set()).add(name)
    return tuple(map(frozenset, groups.values()))


def _prepares(rule: RuleConfig, rules: Collection[RuleConfig]) -> bool:
    """Return whether a rule only prepares others, see `point`."""
    others = [other for other in rules if other is not rule]
    if any(other.when.after and other.when.after.rule == rule.name for other in others):
        return True
    return _delays(rule) and any(
        (other.when.until is not None and other.when.until.rule == rule.name)
        or (other.match.api == rule.match.api and not _delays(other))
        for other in others
    )


def _delays(rule: RuleConfig) -> bool:
    return all(isinstance(action.config, Delay) for action in rule.do)


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
