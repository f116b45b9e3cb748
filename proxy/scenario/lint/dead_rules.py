"""Finds rules that can never do anything, and the reasons.

A setting that is wrong in itself (a field that no version has) is an error. This check is about settings that
do not fit each other, such as a field that the matching versions do not have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final

from barnabas.captures.kafka.expression import expression
from barnabas.proxy.faults.respond import Respond
from barnabas.proxy.matching.field_paths import named_fields
from barnabas.proxy.matching.match import Match
from barnabas.proxy.matching.record import check as check_record
from barnabas.proxy.matching.where import check as check_fields
from barnabas.proxy.scenario.lint.unreachable_rules import unreached
from barnabas.proxy.scenario.model import RuleConfig, Scenario
from barnabas.proxy.scenario.planned_faults import PlannedFault
from barnabas.specs import NAMES
from barnabas.specs.frames import Direction

FEW: Final = 3
"""The most kinds of messages that are named one by one."""

_MISSING: Final = {
    "acks": "only Produce requests have acks, no {} has",
    "error": "no {} has an error code",
    "topic": "no {} names a topic",
    "partition": "no {} names a partition",
    "group": "no {} names a group",
    "transactional_id": "no {} names a transactional id",
}
"""Condition -> why these messages cannot meet it."""


def check(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Yield each rule that can never fire, or whose fault can never be applied, and the reason."""
    rules = scenario.rules
    never = {rule.name: list(_reasons(rule)) for rule in rules}
    for rule in _unbegun(rules, {name for name, reasons in never.items() if reasons}):
        never[rule.name].append(_not_begun(rule, rules))
    for rule, before in unreached(rules):
        never[rule.name].append(
            f"rule {before.name!r} before it ends every message that it matches"
        )
    for name, reasons in never.items():
        yield from ((name, reason) for reason in reasons)


def _reasons(rule: RuleConfig) -> Iterator[str]:
    match, when = rule.match, rule.when
    yield from unmet(match)
    if rule.where is not None:
        yield from check_fields(expression(rule.where), match)
    if rule.record is not None:
        yield from check_record(expression(rule.record), match)
    if when.until is not None and when.until.time is not None:
        begins = when.after.time if when.after is not None else 0
        if begins is not None and begins >= when.until.time:
            yield "`until` is not later than `after`"
    for fault in rule.do:
        fields = (
            field for path in getattr(fault.config, "paths", ()) for field in named_fields(path)
        )
        for field in fields:
            problems = check_fields(expression(field), match)
            yield from (f"{fault.name}: {problem}" for problem in problems)
        applies = getattr(fault.config, "applies_to", lambda *_: True)
        if not any(applies(*kind) for kind in match.kinds()):
            yield _misfit(fault, applies, match)


def _misfit(
    fault: PlannedFault, applies: Callable[[int, Direction, int], bool], match: Match
) -> str:
    """Return the messages to which a fault applies, if it applies to no matching one."""
    name = fault.name
    if isinstance(fault.config, Respond) and fault.config.only and match.direction != "response":
        entities = " and ".join(fault.config.only.kinds)
        return f"only: no {match.kind} has entries with {entities} that get errors of their own"
    kinds = {kind[:2] for kind in Match().kinds() if applies(*kind)}
    directions = {direction for _, direction in kinds}
    if 0 < len(kinds) <= FEW:
        messages = " and ".join(f"{NAMES[key]} {direction}s" for key, direction in sorted(kinds))
        return f"{name} applies to {messages}"
    if len(directions) == 1 and match.direction not in (None, *directions):
        return f"{name} applies to {directions.pop()}s"
    return f"{name} does not apply to {match.describe()}"


def unmet(match: Match) -> Iterator[str]:
    """Yield why there is no matching message."""
    size = match.size
    if size is not None and size.at_most is not None and size.at_least > size.at_most:
        yield f"size: at_least ({size.at_least}) is more than at_most ({size.at_most})"
    missing = [
        set(match.misses(direction, key, version)) for key, direction, version in match.kinds()
    ]
    if not missing or not all(missing):
        return
    everywhere = sorted(set.intersection(*missing))
    for condition in everywhere:
        yield _MISSING[condition].format(match.kind)
    if not everywhere:
        conditions = " and ".join(sorted(set.union(*missing)))
        yield f"no message has {conditions} at once: {match.describe()}"


def _unbegun(rules: Sequence[RuleConfig], never: Collection[str]) -> list[RuleConfig]:
    """Return rules that wait for one that never fires, or that waits for them."""
    rules_by_name = {rule.name: rule for rule in rules}
    waiting = [rule for rule in rules if rule.name not in never]
    while True:
        stuck = {rule.name for rule in waiting}.union(never)
        begun = {
            rule.name
            for rule in waiting
            if rule.when.after is None
            or rule.when.after.rule is None
            or (
                rule.when.after.rule not in stuck
                and _most(rules_by_name[rule.when.after.rule]) >= rule.when.after.fired
            )
        }
        if not begun:
            return waiting
        waiting = [rule for rule in waiting if rule.name not in begun]


def _not_begun(rule: RuleConfig, rules: Sequence[RuleConfig]) -> str:
    after = rule.when.after
    assert after is not None  # noqa: S101 - it waits for a rule
    if after.rule == rule.name:
        return "it waits for its own firing"
    other = next(other for other in rules if other.name == after.rule)
    if _most(other) < after.fired:
        return f"it waits for rule {after.rule!r} to fire {after.fired} times, not {_most(other)}"
    return f"it waits for rule {after.rule!r}, which never fires before it"


def _most(rule: RuleConfig) -> float:
    """Return how often a rule can fire, on all connections together."""
    bounded = rule.when.times is not None and rule.when.scope == "rule"
    return rule.when.times if bounded and rule.when.times is not None else math.inf
