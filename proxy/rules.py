"""Rules at work: which of them a message meets, and what they decide about it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from pydantic import BaseModel

from captures.expression import Expression, Unclear, expression
from proxy.dice import Dice, Key
from proxy.effects import Effect, HangUp, Lose, Same
from proxy.faults import KEEP_ORDER
from proxy.matching import Match, Until
from proxy.message import Message
from proxy.scenario_model import Planned, RuleConfig, Scenario, When
from proxy.wording import describe
from specs.frames import Direction

_WORD: Final = re.compile(r"\w+")

_REMEMBERED: Final = 4096
"""Kinds of message whose candidates are remembered: a client may send any key and version."""


@dataclass(slots=True)
class Count:
    """How often a rule matched and fired."""

    matched: int = 0
    fired: int = 0


class Counts:
    """What one connection counts, for each rule."""

    def __init__(self) -> None:
        self._counts: dict[str, Count] = {}

    def of(self, rule: str) -> Count:
        """The count of a rule on this connection."""
        return self._counts.setdefault(rule, Count())

    def keep(self, rules: Collection[str]) -> None:
        """Forget all other rules: one that comes again under its name begins anew."""
        self._counts = {name: count for name, count in self._counts.items() if name in rules}


@dataclass(slots=True, eq=False)
class Rule:
    """A rule, compiled, and what it did so far on all connections."""

    config: RuleConfig
    """As it stands in the scenario."""
    name: str
    match: Match
    where: Expression | None
    when: When
    faults: tuple[Planned, ...]
    total: Count = field(default_factory=Count)
    released: int = 0
    """Messages that stood aside until what they waited for came; the connection counts them."""
    expired: int = 0
    """Messages that stood aside until their time was up; the connection counts them."""
    unclear: int = 0
    """Messages whose body can't be read or on which the condition can't be decided: no match."""
    trouble: str = ""
    """Why, for the latest of these."""
    forced: int = 0
    """So many of its next matches fire, whatever `when` says."""

    @property
    def matched(self) -> int:
        """How many messages matched, the condition included."""
        return self.total.matched

    @property
    def fired(self) -> int:
        """On how many of them it fired."""
        return self.total.fired

    @property
    def needs_body(self) -> bool:
        """Whether it looks into bodies."""
        return self.where is not None

    def meets(self, message: Message) -> bool:
        """Whether the condition holds. One that can't be decided does not, and is counted."""
        if self.where is None:
            return True
        fields = message.fields(*(self.where.roots or ()))
        try:
            if fields is None:
                raise Unclear("the body can't be read")
            met = self.where.holds(fields)
            if not met and message.unnamed.intersection(_WORD.findall(self.where.text)):
                raise Unclear("the name of a topic id is not known yet")
            return met
        except Unclear as unclear:
            self.unclear += 1
            self.trouble = str(unclear)
            return False

    @property
    def what(self) -> str:
        """What it does and what became of it, in a line."""
        parts = [" + ".join(fault.name for fault in self.faults)]
        if self.released:
            parts.append(f"{self.released} released")
        if self.expired:
            parts.append(f"{self.expired} timed out")
        if self.unclear:
            parts.append(f"{self.unclear} undecided: {self.trouble}")
        return ", ".join(parts)


class Decision(NamedTuple):
    """What a rule that fired wants done, and the same in words."""

    rule: str
    effects: tuple[Effect, ...]
    text: tuple[str, ...]


class Rules:
    """The rules of a scenario. None: there are no rules.

    Those that `before` has too, with the same name and settings, are the same objects: what they
    have counted goes on.
    """

    def __init__(self, scenario: Scenario | None, before: Rules | None = None) -> None:
        self.scenario = scenario
        self._dice = Dice(0 if scenario is None else scenario.seed)
        known = {} if before is None else before._names
        self.rules: tuple[Rule, ...] = tuple(
            _same(known.get(config.name), config) or _compiled(config)
            for config in (scenario.rules if scenario else ())
        )
        self._names: dict[str, Rule] = {rule.name: rule for rule in self.rules}
        self._candidates: dict[tuple[Direction, int, int], tuple[Rule, ...]] = {}
        waits = [(rule, until) for rule in self.rules for until in _untils(rule)]
        self.waits_for: tuple[tuple[Match, Same], ...] = tuple((u, u.same) for _, u in waits)
        """What holds wait for, and where it must pass."""
        self.needs_group: bool = any(until.same == "group" for _, until in waits)
        """Some hold must know which group a message is about."""
        self.needs_topics: bool = any(rule.needs_body for rule in self.rules)
        """Some rule looks into bodies, and may ask for a topic by name."""
        self.reorders: bool = any(map(_may_reorder_requests, self.rules))
        """Requests may leave in another order than they came."""

    def candidates(self, direction: Direction, key: int, version: int) -> tuple[Rule, ...]:
        """The rules that a message of this kind may meet: () almost always, in one look-up."""
        found = self._candidates.get((direction, key, version))
        if found is None:
            found = tuple(r for r in self.rules if r.match.key_matches(direction, key, version))
            if len(self._candidates) < _REMEMBERED:
                self._candidates[direction, key, version] = found
        return found

    def for_peer(self, rule: Rule, client_id: str | None, broker: int | None) -> bool:
        """Whether a candidate is about this client and broker at all."""
        return rule.match.peer_matches(client_id, broker)

    def decide(
        self, candidates: Iterable[Rule], message: Message, counts: Counts
    ) -> list[Decision]:
        """Ask the candidates in order; those that fire decide. Nobody is asked about a message
        that is lost or whose connection is closed."""
        decisions: list[Decision] = []
        for rule in candidates:
            if not rule.match.peer_matches(message.client_id, message.broker):
                continue
            if not rule.meets(message):
                continue
            effects = self._fire(rule, message, counts)
            if effects is None:
                continue
            decisions.append(Decision(rule.name, effects, tuple(map(describe, effects))))
            if any(isinstance(effect, Lose | HangUp) for effect in effects):
                break
        return decisions

    def _fire(self, rule: Rule, message: Message, counts: Counts) -> tuple[Effect, ...] | None:
        when = rule.when
        own = counts.of(rule.name)
        count = own if when.scope == "connection" else rule.total
        ordinal, fired = count.matched, count.fired
        own.matched += 1
        rule.total.matched += 1
        forced = rule.forced > 0
        if not forced and (ordinal < when.skip or (when.times is not None and fired >= when.times)):
            return None
        key: Key = (ordinal,)
        if when.scope == "connection":
            key = (message.client_id, message.broker, message.ordinal, ordinal)
        roll = self._dice.roll(rule.name, key)
        # The first number is always for this, so that another probability changes nothing else.
        if roll() >= when.probability and not forced:
            return None
        if forced:
            rule.forced -= 1
        own.fired += 1
        rule.total.fired += 1
        return tuple(fault.act(fault.config, roll) for fault in rule.faults)

    def rule(self, name: str) -> Rule:
        """A rule by its name. Raises LookupError."""
        return self._names[name]

    def shared(self, others: Rules) -> frozenset[str]:
        """Names of the rules that are the same ones in both."""
        return frozenset(name for name, rule in self._names.items() if rule in others.rules)


def _same(rule: Rule | None, config: RuleConfig) -> Rule | None:
    return rule if rule is not None and rule.config == config else None


def _compiled(config: RuleConfig) -> Rule:
    condition = None if config.where is None else expression(config.where)
    return Rule(config, config.name, config.match, condition, config.when, config.do)


def _untils(rule: Rule) -> list[Until]:
    return [u for fault in rule.faults for _, u in _settings(fault.config) if isinstance(u, Until)]


def _settings(config: BaseModel) -> Iterable[tuple[str, object]]:
    return config


def _may_reorder_requests(rule: Rule) -> bool:
    return rule.match.direction != "response" and any(
        not isinstance(fault.config, KEEP_ORDER) for fault in rule.faults
    )
