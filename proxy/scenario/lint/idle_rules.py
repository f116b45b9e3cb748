"""Finds rules that may fire and yet do nothing, or faults of theirs, where that is certain."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.proxy.scenario.lint import dead_rules
from barnabas.proxy.scenario.model import RuleConfig, Scenario


def check(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Yield each rule that can fire and does nothing, and the reason."""
    dead = {name for name, _ in dead_rules.check(scenario)}
    waited_for = {
        point.rule
        for rule in scenario.rules
        for point in (rule.when.after, rule.when.until)
        if point is not None
    }
    for rule in scenario.rules:
        if rule.name not in dead:
            reasons = _reasons(rule, rule.name in waited_for)
            yield from ((rule.name, reason) for reason in reasons)


def _reasons(rule: RuleConfig, waited_for: bool) -> Iterator[str]:
    """Yield why a rule, or a fault of it, does nothing."""
    when = rule.when
    if when.probability == 0 or (
        when.phases and not any(phase.probability for phase in when.phases)
    ):
        yield "fires only by `barnabas ctl rule fire`: its probability is 0"
        return
    if len(rule.do) > 1 or not waited_for:  # otherwise the rule is there to fire
        for fault in rule.do:
            if setting := getattr(fault.config, "no_op", ""):
                yield f"does nothing with {fault.name}: {setting} is 0"
