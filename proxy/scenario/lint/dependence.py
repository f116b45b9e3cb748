"""Finds rules that depend on other connections, and the reasons; captures mark them, too.

A rule decides by the messages of one connection, so that the same traffic gives the same run. The exceptions
are listed here: which of two connections gets its turn first is chance. A capture records that order, so a
rehearsal is exact, but another live run may differ.

Facts that are learned once (brokers' addresses, names of topic ids) do not count as dependence.
"""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.proxy.faults import PerRule
from barnabas.proxy.scenario.model import RuleConfig, Scenario


def reasons(rule: RuleConfig) -> Iterator[str]:
    """Yield how a rule depends on other connections; most rules do not."""
    when = rule.when
    if when.scope == "rule":
        yield "scope: rule counts the matches of all connections"
    for point in (when.after, when.until):
        if point is not None and point.rule is not None:
            yield f"it depends on what rule {point.rule!r} did on other connections"
    for fault in rule.do:
        shared = "all connections share its state" if isinstance(fault.state, PerRule) else ""
        across = getattr(fault.config, "across", shared)
        if across:
            yield f"{fault.name}: {across}"


def check(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Yield each rule that depends on other connections, and the reasons."""
    for rule in scenario.rules:
        if text := "; ".join(reasons(rule)):
            yield rule.name, f"({text})"
