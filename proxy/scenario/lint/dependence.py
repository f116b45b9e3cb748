"""Which rules depend on other connections, and why: marked in captures, too.

What a rule does is decided by the messages of one connection, so that the same traffic gives the same
run, but for what is listed here: which of two connections gets its turn first is chance. A capture
has that order, so a rehearsal is exact; another live run need not be the same.

What is learnt once (brokers' addresses, names of topic ids) is not meant.
"""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.proxy.faults import PerRule
from barnabas.proxy.scenario.model import RuleConfig, Scenario


def reasons(rule: RuleConfig) -> Iterator[str]:
    """What of other connections a rule depends on, in words; nothing for most."""
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
    """Each rule that depends on other connections, and why."""
    for rule in scenario.rules:
        if found := "; ".join(reasons(rule)):
            yield rule.name, f"({found})"
