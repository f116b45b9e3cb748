"""Turns what rules did to some messages into a scenario that does it again to such messages.

The scenario has each rule that fired, restricted to the APIs and clients of these messages. `skip` and
`times` follow from the messages: the rule skips the first ones that it let pass, and fires on as many as it
fired on. If that is unknown, or the firings are not consecutive, the rule keeps its own `when`.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.notes import ANSWERED_BY_PROXY
from barnabas.captures.kafka.wording import listed, printable
from barnabas.plural import plural
from barnabas.proxy.faults import FAULTS, Fault
from barnabas.proxy.matching.past_message import past_message
from barnabas.proxy.rules.rule import compiled
from barnabas.proxy.scenario.file import ScenarioError, loads
from barnabas.proxy.scenario.model import RuleConfig, Scenario
from barnabas.proxy.scenario.yaml_lines import dump, plain, read
from barnabas.specs.frames import DIRECTIONS, Direction

CLIENTS: Final = 8
"""The most client ids that a rule is restricted to."""

Topics = Mapping[uuid.UUID, str]

Source = tuple[int, str]
"""The time since which a scenario was in force (ns since the epoch), and its text."""


class Excerpt(NamedTuple):
    """The scenario's text, and the names of rules that fired and that no scenario has."""

    text: str
    left_out: tuple[str, ...] = ()


def excerpt(
    exchanges: Iterable[Exchange],
    sources: Sequence[Source],
    topics: Topics,
    faults: tuple[Fault, ...] = FAULTS,
) -> Excerpt:
    """Return the scenario, with comments on its origin; it always loads with these faults.

    Args:
        exchanges: The exchanges.
        sources: The scenarios in force at the time, the earliest first; unreadable ones are ignored.
        topics: Names of topics by id, as far as they are known.
        faults: The faults that the scenarios may name.
    """
    chosen = sorted(exchanges, key=lambda exchange: exchange.ts)
    past_scenarios = [
        past for past in (_past_scenario(*source, faults) for source in sources) if past is not None
    ]
    past_scenarios = [
        past
        for past in past_scenarios
        if past.top.get("dialect") == past_scenarios[0].top.get("dialect")
    ]
    unknown: Counter[str] = Counter()
    for exchange in chosen:
        for name in exchange.rules:
            rule = _rule_of(past_scenarios, exchange.ts, name)
            if rule is None:
                unknown[name] += 1
            else:
                rule.fired.append(exchange)
    fired = _merged(rule for past in past_scenarios for rule in past.rules if rule.fired)
    text = [f"# Repeats what rules did to {plural(len(chosen), 'exchange')}.\n"]
    if unmatched := sum(not exchange.rules for exchange in chosen):
        text.append(f"# No rule fired on {unmatched} of them.\n")
    if unknown:
        names = listed([repr(printable(name)) for name in unknown], "rule", 200)
        text.append(f"# Left out, because no known scenario has it: {names}.\n")
    top = {**past_scenarios[0].top, "version": 1} if past_scenarios else {"version": 1}
    text.append(dump(top))
    load = partial(_loaded, top, faults)
    whole = _with_referred(
        {rule.name: _again(rule, chosen, topics, load) for rule in fired}, past_scenarios
    )
    text.append("rules:\n" if whole else "rules: []\n")
    text += (f"# {remark}.\n{dump([raw])}" for remark, raw in whole)
    return Excerpt("".join(text), tuple(unknown))


CommentedRule = tuple[str, dict[str, Any]]
"""A comment on a rule, and the rule."""

Load = Callable[[dict[str, Any]], RuleConfig | None]


@dataclass(slots=True)
class _FiredRule:
    raw: dict[str, Any]
    """The rule as it stands in the scenario."""
    fired: list[Exchange] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Return the rule's name, which differs from the scenario's if two rules share it."""
        name: str = self.raw["name"]
        return name


@dataclass(slots=True)
class _PastScenario:
    """A scenario that was in force since `began`."""

    began: int
    top: dict[str, Any]
    """The scenario's other settings that its rules depend on."""
    rules: list[_FiredRule]


def _past_scenario(began: int, text: str, faults: tuple[Fault, ...]) -> _PastScenario | None:
    try:
        loads(text, faults=faults)
    except ScenarioError:
        return None
    values = plain(read(text).value)
    top = {name: values[name] for name in ("version", "seed", "dialect") if name in values}
    return _PastScenario(began, top, [_FiredRule(rule) for rule in values["rules"]])


def _rule_of(past_scenarios: list[_PastScenario], ts: int, name: str) -> _FiredRule | None:
    """Return the rule of this name that was in force at a time; else one of another time."""
    earlier = [past for past in past_scenarios if past.began <= ts]
    for past in (*reversed(earlier), *past_scenarios):
        for rule in past.rules:
            if rule.name == name:
                return rule
    return None


def _merged(rules: Iterable[_FiredRule]) -> list[_FiredRule]:
    """Return the rules without duplicates; a later rule with a taken name gets another name."""
    merged: list[_FiredRule] = []
    names: set[str] = set()
    by_text: dict[str, _FiredRule] = {}
    for rule in rules:
        text = dump(rule.raw)
        if text in by_text:
            by_text[text].fired += rule.fired
            continue
        by_text[text] = rule
        name, count = rule.name, 1
        while rule.name in names:
            count += 1
            rule.raw = {**rule.raw, "name": f"{name} ({count})"}
        names.add(rule.name)
        merged.append(rule)
    return merged


def _with_referred(
    rules: dict[str, CommentedRule], past_scenarios: list[_PastScenario]
) -> list[CommentedRule]:
    """Return all rules, with those first that the `when` of others names; these stay unchanged."""
    referred: dict[str, CommentedRule] = {}
    pending = list(rules.values())
    for _, raw in pending:
        for name in _named(raw):
            if name not in referred:
                raws = (
                    rule.raw for past in past_scenarios for rule in past.rules if rule.name == name
                )
                referred[name] = "Another rule's `when` names it", next(raws)
                pending.append(referred[name])
    rest = [commented for name, commented in rules.items() if name not in referred]
    return [*reversed(referred.values()), *rest]


def _named(raw: dict[str, Any]) -> Iterator[str]:
    when = raw.get("when") or {}
    for point in (when.get("after"), when.get("until")):
        if isinstance(point, dict) and "rule" in point:
            yield point["rule"]


def _again(rule: _FiredRule, chosen: list[Exchange], topics: Topics, load: Load) -> CommentedRule:
    """Return a rule that fires again on such messages, with a comment."""
    raw = _narrowed(rule)
    config = load(raw)
    if config is None:  # e.g. a rule whose match may name brokers only
        raw = rule.raw
        config = load(raw)
    remark = f"It fired on {len(rule.fired)} of the exchanges"
    when = None if config is None else _when(rule, config, chosen, topics)
    if when is None:
        return f"{remark}; its `when` is unchanged", raw
    if skipped := when.get("skip"):
        remark += f", after {plural(skipped, 'message')} that passed it"
    raw = {name: value for name, value in raw.items() if name not in ("when", "do")}
    return remark, {**raw, "when": when, "do": rule.raw["do"]}


def _narrowed(rule: _FiredRule) -> dict[str, Any]:
    """Return the rule restricted to the APIs and clients of the messages that it fired on."""
    match = dict(rule.raw.get("match") or {})
    apis = sorted({exchange.api for exchange in rule.fired})
    match["api"] = apis[0] if len(apis) == 1 else apis
    clients = sorted({exchange.client_id or "" for exchange in rule.fired})
    if "client_id" not in match and all(clients) and len(clients) <= CLIENTS:
        globs = list(map(_literal, clients))
        match["client_id"] = globs[0] if len(globs) == 1 else globs
    return {"name": rule.name, "match": match} | {
        name: value for name, value in rule.raw.items() if name not in ("name", "match")
    }


def _literal(text: str) -> str:
    """Return a glob that matches exactly a text.

    >>> _literal("a*[b]")
    'a[*][[]b]'
    """
    return "".join(f"[{character}]" if character in "*?[" else character for character in text)


def _loaded(
    top: dict[str, Any], faults: tuple[Fault, ...], raw: dict[str, Any]
) -> RuleConfig | None:
    """Return a rule on its own, without its `when`; None if it does not load."""
    alone = {name: value for name, value in raw.items() if name != "when"}
    try:
        scenario: Scenario = loads(dump({**top, "rules": [alone]}), faults=faults)
    except ScenarioError:
        return None
    return scenario.rules[0]


def _when(
    rule: _FiredRule, config: RuleConfig, chosen: list[Exchange], topics: Topics
) -> dict[str, Any] | None:
    """Return the `when` that fits the messages; None if they do not determine it."""
    directions: tuple[Direction, ...] = DIRECTIONS
    if config.match.direction is not None:
        directions = (config.match.direction,)
    elif rule.raw.get("when"):
        return None  # on which of the two it fired is not known
    if config.match.connection is not None:
        return None
    own_ids = set(map(id, rule.fired))
    messages = sorted(
        (exchange.ts if direction == "request" else exchange.end, id(exchange))
        for exchange in chosen
        for direction in directions
        if _meets(config, exchange, direction, topics)
    )
    fired = [which in own_ids for _, which in messages]
    if not own_ids <= {which for _, which in messages}:
        return None
    skip, times = fired.index(True), sum(fired)
    if not all(fired[skip : skip + times]):
        return None
    return {**({"skip": skip} if skip else {}), "times": times, "scope": "rule"}


def _meets(config: RuleConfig, exchange: Exchange, direction: Direction, topics: Topics) -> bool:
    """Return whether a rule matches a message."""
    size = exchange.request_size if direction == "request" else exchange.response_size
    if size is None or (direction == "response" and exchange.note == ANSWERED_BY_PROXY):
        return False
    match, message = config.match, past_message(exchange, direction, -1, topics)
    return (
        match.key_matches(direction, exchange.key, exchange.version)
        and match.peer_matches(exchange.client_id, exchange.node, -1)
        and compiled(config).meets(message)
    )
