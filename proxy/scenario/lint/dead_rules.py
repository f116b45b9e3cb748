"""Rules that can never do anything, and why: said when a scenario is loaded.

What is wrong in itself (a field that no version has) is an error; this is about parts that do not
fit each other, such as a field that the versions that are meant do not have.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from barnabas.captures.kafka.expression import expression
from barnabas.proxy.faults.clamp import Clamp
from barnabas.proxy.faults.quota import Quota
from barnabas.proxy.faults.respond import Respond
from barnabas.proxy.faults.steer import Steer
from barnabas.proxy.matching.kinds import has_errors, names_any
from barnabas.proxy.matching.match import Match, Until
from barnabas.proxy.matching.where import check
from barnabas.proxy.scenario.lint.idle_rules import idle, unreached
from barnabas.specs import api
from barnabas.specs.frames import Direction
from barnabas.specs.keys import API_VERSIONS, FIND_COORDINATOR, METADATA

if TYPE_CHECKING:
    from barnabas.proxy.scenario.model import RuleConfig, Scenario


_MISSING: Final = {
    "acks": "acks is about Produce requests: no {} has it",
    "error": "there is no error code in any {}",
    "topic": "no topic is named in any {}",
    "partition": "no partition is named in any {}",
    "group": "no group is named in any {}",
    "transactional_id": "no transactional id is named in any {}",
}
"""What is asked for -> why these messages can't have it."""


def warnings(scenario: Scenario | None) -> list[str]:
    """A line for each rule that can't ever fire, or whose fault can't be done."""
    rules = () if scenario is None else scenario.rules
    never = {rule.name: list(_reasons(rule)) for rule in rules}
    for rule in _unbegun(rules, {name for name, reasons in never.items() if reasons}):
        never[rule.name].append(_not_begun(rule, rules))
    for rule, before in unreached(rules):
        never[rule.name].append(
            f"rule {before.name!r}, which stands before it, ends all that it is about"
        )
    lines = [
        f"warning: rule {name!r} can't do anything: {reason}"
        for name, reasons in never.items()
        for reason in reasons
    ]
    lines += [
        f"warning: rule {rule.name!r} {reason}"
        for rule in rules
        if not never[rule.name]
        for reason in idle(rule, rules)
    ]
    in_vain = [(rule, until) for rule in rules for until in _untils(rule)]
    lines += [
        f"warning: rule {rule.name!r} waits in vain, until its time is up: {reason}"
        for rule, until in in_vain
        for reason in (*_unmet(until), *_apart(rule.match, until))
    ]
    return lines


def _reasons(rule: RuleConfig) -> Iterator[str]:
    match, when = rule.match, rule.when
    yield from _unmet(match)
    if rule.where is not None:
        yield from check(expression(rule.where), match)
    if when.until is not None and when.until.time is not None:
        begins = when.after.time if when.after is not None else 0
        if begins is not None and begins >= when.until.time:
            yield "it ends before it begins: `until` is not later than `after`"
    for fault in rule.do:
        for path in getattr(fault.config, "paths", ()):
            yield from (f"{fault.name}: {problem}" for problem in check(expression(path), match))
        if not any(_can(fault.config, *kind) for kind in match.kinds()):
            yield f"{fault.name} can't be done to {match.describe()}"


def _unmet(match: Match) -> Iterator[str]:
    """Why there is no such message."""
    size = match.size
    if size is not None and size.at_most is not None and size.at_least > size.at_most:
        yield f"no size is at least {size.at_least} and at most {size.at_most} bytes"
    missing = [set(match.misses(way, key, version)) for key, way, version in match.kinds()]
    if not all(missing):
        return
    everywhere = sorted(set.intersection(*missing)) if missing else []
    for asked in everywhere:
        yield _MISSING[asked].format(match.kind)
    if not everywhere:
        asked_for = " and ".join(sorted(set.union(*missing)))
        yield f"no message has {asked_for} at once: {match.describe()}"


def _can(config: object, key: int, direction: Direction, version: int) -> bool:
    """Whether a fault can be done to a message of this kind."""
    response = direction == "response"
    match config:
        case Quota():
            return response and "throttle_time_ms" in _fields(key, direction, version)
        case Clamp():
            return response and key == API_VERSIONS
        case Steer():
            return response and key in (METADATA, FIND_COORDINATOR)
        case Respond(error=error, body=None) if error:
            return not response and has_errors(key, "response", version)
    return True


def _fields(key: int, direction: Direction, version: int) -> Iterable[str]:
    return (slot.name for slot in api(key).message(direction).layout(version).slots)


def _unbegun(rules: Sequence[RuleConfig], never: Collection[str]) -> list[RuleConfig]:
    """Rules that wait for one that never fires, or that waits for them."""
    known = {rule.name: rule for rule in rules}
    left = [rule for rule in rules if rule.name not in never]
    while True:
        stuck = {rule.name for rule in left}
        begun = [
            rule
            for rule in left
            if rule.when.after is None
            or rule.when.after.rule is None
            or (
                rule.when.after.rule not in {*stuck, *never}
                and _most(known[rule.when.after.rule]) >= rule.when.after.fired
            )
        ]
        if not begun:
            return left
        left = [rule for rule in left if rule not in begun]


def _not_begun(rule: RuleConfig, rules: Sequence[RuleConfig]) -> str:
    after = rule.when.after
    assert after is not None  # noqa: S101 - it waits for a rule
    if after.rule == rule.name:
        return "it waits for itself to fire"
    other = next(other for other in rules if other.name == after.rule)
    if _most(other) < after.fired:
        return f"it waits for rule {after.rule!r} to fire {after.fired} times, not {_most(other)}"
    return f"it waits for rule {after.rule!r}, which never fires before it"


def _most(rule: RuleConfig) -> float:
    """How often a rule can fire, on all connections together."""
    bounded = rule.when.times is not None and rule.when.scope == "rule"
    return rule.when.times if bounded and rule.when.times is not None else math.inf


def _untils(rule: RuleConfig) -> Iterator[Until]:
    for fault in rule.do:
        yield from (value for _, value in fault.config if isinstance(value, Until))


def _apart(match: Match, until: Until) -> Iterator[str]:
    """Why what is waited for can't pass where it is waited for."""
    if until.same == "group":
        for what, one in (("held", match), ("waited for", until)):
            if not any(names_any("group", key, way, version) for key, way, version in one.kinds()):
                yield f"no group is named in what is {what}: {one.describe()}"
    if until.same == "connection":
        for what, here, there in (
            ("broker", match.broker, until.broker),
            ("connection", match.connection, until.connection),
        ):
            if here is not None and there is not None and not here & there:
                yield f"no {what} is both in `match` and in `until`, which is about the same connection"
