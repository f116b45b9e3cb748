"""Rules at work: which of them a message meets, and what they decide about it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

from pydantic import BaseModel

from barnabas.captures.kafka.expression import Expression, Unclear, expression
from barnabas.proxy.effects import FINAL, Become, Effects, Reject
from barnabas.proxy.faults import CONNECTIONS, PerRule
from barnabas.proxy.matching.match import Match, Same, Until
from barnabas.proxy.matching.message import CONNECT, Message, Unable, Unnamed
from barnabas.proxy.matching.seeded_random import Dice, Key
from barnabas.proxy.matching.when import Point, When
from barnabas.proxy.rules.wording import describe
from barnabas.proxy.scenario.lint.dependence import reasons
from barnabas.proxy.scenario.model import Planned, RuleConfig, Scenario
from barnabas.specs.frames import Direction

_WORD: Final = re.compile(r"\w+")

SAID: Final = 10
"""So often something that happens again and again is said."""

KINDS: Final = 100
"""So many causes of a rule's troubles are told apart."""

SHOWN: Final = 3
"""So many of them are shown, the most frequent."""

REMEMBERED: Final = 4096
"""Kinds of message of which something is remembered: a client may send any key and version."""

_ANY_SIZE: Final = range(1 << 32)


@dataclass(slots=True)
class Count:
    """How often a rule matched and fired, and what its faults remember of that."""

    matched: int = 0
    fired: int = 0
    states: dict[int, Any] = field(default_factory=dict)
    """By the fault's place in the rule."""


class Counts:
    """What one connection counts, for each rule."""

    def __init__(self) -> None:
        self._counts: WeakKeyDictionary[Rule, Count] = WeakKeyDictionary()

    def of(self, rule: Rule) -> Count:
        """The count of a rule on this connection; it ends with the rule, whatever the next is called."""
        return self._counts.setdefault(rule, Count())


@dataclass(slots=True, eq=False, weakref_slot=True)
class Rule:
    """A rule, compiled, and what it did so far on all connections."""

    config: RuleConfig
    """As it stands in the scenario."""
    name: str
    match: Match
    where: Expression | None
    keys: tuple[Expression, ...]
    """What chance goes by, if it is taken from the message."""
    when: When
    faults: tuple[Planned, ...]
    total: Count = field(default_factory=Count)
    sizes: range = _ANY_SIZE
    """Of the frames that it is about, their size field left out."""
    released: int = 0
    """Messages that stood aside until what they waited for came; the connection counts them."""
    expired: int = 0
    """Messages that stood aside until their time was up; the connection counts them."""
    unclear: int = 0
    """Messages whose body can't be read or on which the condition can't be decided: no match."""
    unable: int = 0
    """Faults that could not be done to a message: it stayed as it was."""
    troubles: Counter[str] = field(default_factory=Counter)
    """Why, and how often so; the first KINDS of them."""
    doubts: Counter[str] = field(default_factory=Counter)
    """Why messages could not be decided on, and how often so; the first KINDS of them."""
    doubt: str = ""
    """The same for the latest of them."""
    said: set[str] = field(default_factory=lambda: {""})
    """Such reasons that were said."""
    depends: bool = False
    """Whether it depends on other connections, see `barnabas.proxy.scenario.lint.dependence`."""
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
        return self.where is not None or bool(self.keys) or self.match.needs_body

    def meets(self, message: Message) -> bool:
        """Whether content and condition are met; the header is, see `Rules.decide`.

        What can't be decided is not met, and is counted; the names that it lacks are `wanted`.
        """
        try:
            return self.match.content_matches(message) and self._holds(message)
        except Unclear as unclear:
            if isinstance(unclear, Unnamed):
                message.wanted |= unclear.ids
            self.unclear += 1
            self.doubt = str(unclear)
            _note(self.doubts, self.doubt)
            return False

    def _holds(self, message: Message) -> bool:
        if self.where is None:
            return True
        fields = message.fields(*(self.where.roots or ()))
        if fields is None:
            raise Unclear(message.too_large or "the body can't be read")
        lacking = message.unnamed and message.lacking(_WORD.findall(self.where.text))
        try:
            met = self.where.holds(fields)
        except Unclear:
            if lacking:
                raise Unnamed(lacking) from None
            raise
        if lacking and not met:
            raise Unnamed(lacking)
        return met

    def news(self) -> str:
        """Why a message could not be decided on, if that was not said yet; so much is said, at most."""
        if self.doubt in self.said or len(self.said) >= SAID:
            return ""
        self.said.add(self.doubt)
        return self.doubt

    def key_of(self, message: Message) -> Iterable[str]:
        """What chance goes by, as JSON; null where the body does not tell."""
        for key in self.keys:
            fields = message.fields(*(key.roots or ())) or {}
            try:
                yield json.dumps(key.value(fields), sort_keys=True)
            except Unclear:
                yield "null"

    @property
    def what(self) -> str:
        """What it does and what became of it, in a line."""
        parts = [" + ".join(fault.name for fault in self.faults)]
        if self.released:
            parts.append(f"{self.released} released")
        if self.expired:
            parts.append(f"{self.expired} timed out")
        if self.unable:
            parts.append(f"{self.unable} could not be done: {causes(self.troubles, self.unable)}")
        if self.unclear:
            parts.append(f"{self.unclear} undecided: {causes(self.doubts, self.unclear)}")
        return ", ".join(parts)


def _note(found: Counter[str], why: str) -> None:
    if why in found or len(found) < KINDS:
        found[why] += 1


def causes(found: Counter[str], total: int) -> str:
    """The most frequent causes with their counts, in words, out of so many cases in all.

    >>> causes(Counter({"a": 2}), 2), causes(Counter("aabccdde"), 9)
    ('a', 'a (2), c (2), d (2), others (3)')
    """
    most = found.most_common(SHOWN)
    rest = total - sum(count for _, count in most)
    if len(most) == 1 and not rest:
        return most[0][0]
    words = [f"{why} ({count})" for why, count in most]
    return ", ".join(words + [f"others ({rest})"] * (rest > 0))


class Fired(NamedTuple):
    """What a rule's faults want done, in words too, and what of it can't be."""

    effects: Effects = ()
    text: tuple[str, ...] = ()
    trouble: tuple[str, ...] = ()


class Decision(NamedTuple):
    """What a rule that fired wants done, and the same in words."""

    rule: str
    effects: Effects
    text: tuple[str, ...]
    depends: bool = False
    """Whether the rule depends on other connections."""
    trouble: tuple[str, ...] = ()
    """What could not be done, and why; it is in `text` too."""


class Rules:
    """The rules of a scenario. None: there are no rules.

    Those that `before` has too, with the same name and settings, are the same objects: what they
    have counted goes on.
    """

    def __init__(self, scenario: Scenario | None, before: Rules | None = None) -> None:
        self.scenario = scenario
        self.began: int | None = None
        """When the scenario was loaded, in ns; the first message's arrival if nobody said so."""
        self._dice = Dice(0 if scenario is None else scenario.seed)
        known = {} if before is None else before._names
        self.rules: tuple[Rule, ...] = tuple(
            _same(known.get(config.name), config) or _compiled(config)
            for config in (scenario.rules if scenario else ())
        )
        self._names: dict[str, Rule] = {rule.name: rule for rule in self.rules}
        self._attempts: Counts = Counts() if before is None else before._attempts
        self._candidates: dict[tuple[Direction, int, int], tuple[Rule, ...]] = {}
        waits = [(rule, until) for rule in self.rules for until in _untils(rule)]
        self.waits_for: tuple[tuple[Match, Same], ...] = tuple((u, u.same) for _, u in waits)
        """What holds wait for, and where it must pass."""
        self.needs_group: bool = any(until.same == "group" for _, until in waits) or any(
            getattr(fault.config, "same", "") == "group"
            for rule in self.rules
            for fault in rule.faults
        )
        """Some hold or reorder must know which group a message is about."""
        self.needs_request: tuple[Match, ...] = tuple(
            match
            for match in (*(rule.match for rule in self.rules), *(until for _, until in waits))
            if match.names and match.direction != "request"
        )
        """Who must know of a response what its request named."""

    def meta(self) -> dict[str, Any]:
        """What a capture keeps: with this, the same traffic meets the same decisions."""
        if self.scenario is None:
            return {}
        return {**self.scenario.meta(), "began": self.began}

    def candidates(self, direction: Direction, key: int, version: int) -> tuple[Rule, ...]:
        """The rules that a message of this kind may meet: () almost always, in one look-up."""
        found = self._candidates.get((direction, key, version))
        if found is None:
            found = tuple(
                rule
                for rule in self.rules
                if rule.match.key_matches(direction, key, version)
                and not isinstance(rule.faults[0].config, CONNECTIONS)
            )
            if len(self._candidates) < REMEMBERED:
                self._candidates[direction, key, version] = found
        return found

    def connecting(self, broker: int | None, ordinal: int, now: int) -> Reject | None:
        """Whether an attempt to connect is turned away, and how. `ordinal` counts them for a broker."""
        attempt = Message(
            "request", CONNECT, 0, None, broker, 0, ordinal, None, 0, None, arrived=now
        )
        for rule in self.rules:
            if isinstance(rule.faults[0].config, CONNECTIONS) and rule.match.peer_matches(
                None, broker, ordinal
            ):
                fired = self._fire(rule, attempt, self._attempts) or Fired()
                for effect in fired.effects:
                    if isinstance(effect, Reject):
                        return effect
        return None

    def decide(
        self, candidates: Iterable[Rule], message: Message, counts: Counts
    ) -> list[Decision]:
        """Ask the candidates in order; those that fire decide. Nobody is asked about a message
        that is lost or whose connection is closed.

        The candidates are about this kind of message, between these peers, see `State.candidates`.
        """
        decisions: list[Decision] = []
        for rule in candidates:
            if not rule.meets(message):
                continue
            fired = self._fire(rule, message, counts)
            if fired is None:
                continue
            effects, text, trouble = fired
            decisions.append(Decision(rule.name, effects, text, rule.depends, trouble))
            if any(isinstance(effect, FINAL) for effect in effects):
                break
        return decisions

    def _fire(self, rule: Rule, message: Message, counts: Counts) -> Fired | None:
        when = rule.when
        probability = when.probability
        if when.timed:
            found = self._phase(when, message.arrived)
            if found is None and not rule.forced:
                return None
            probability *= 1.0 if found is None else found
        own = counts.of(rule)
        count = own if when.scope == "connection" else rule.total
        ordinal, fired = count.matched, count.fired
        own.matched += 1
        rule.total.matched += 1
        forced = rule.forced > 0
        if not forced and (
            ordinal < when.skip
            or (ordinal - when.skip) % when.every
            or (when.times is not None and fired >= when.times)
        ):
            return None
        key: Key = (ordinal,)
        if when.scope == "connection":
            key = (message.client_id, message.broker, message.ordinal, ordinal)
        if when.key:
            key = tuple(rule.key_of(message))
        roll = self._dice.roll(rule.name, key)
        # The first number is always for this, so that another probability changes nothing else.
        if roll() >= probability and not forced:
            return None
        if forced:
            rule.forced -= 1
        own.fired += 1
        rule.total.fired += 1
        done = Fired()
        for place, fault in enumerate(rule.faults):
            kept = rule.total if isinstance(fault.state, PerRule) else own
            if fault.state is not None and place not in kept.states:
                kept.states[place] = fault.state.new()
            state = () if fault.state is None else (kept.states[place],)
            try:
                wanted = fault.act(fault.config, message, roll, *state)
            except Unable as problem:
                rule.unable += 1
                why = str(problem) if message.quotes else problem.place
                _note(rule.troubles, f"{fault.name}: {why}")
                words = f"{fault.name} could not be done: {why}"
                done = Fired(done.effects, (*done.text, words), (*done.trouble, words))
                continue
            text = (*done.text, *map(describe, wanted))
            done = Fired((*done.effects, *wanted), text, done.trouble)
            _become(message, wanted)
            if any(isinstance(effect, FINAL) for effect in wanted):
                break
        return done

    def _phase(self, when: When, now: int) -> float | None:
        """The share of matches on which a rule fires just now; None: these are no matches."""
        if self.began is None:
            self.began = now
        begun = self.began
        if when.after is not None:
            if not self._passed(when.after, now):
                return None
            begun += when.after.time or 0
        if when.until is not None and self._passed(when.until, now):
            return None
        if not when.phases:
            return 1.0
        into = (now - begun) % sum(phase.lasts for phase in when.phases)
        for phase in when.phases:
            if into < phase.lasts:
                return phase.probability or None
            into -= phase.lasts
        raise AssertionError(into)

    def _passed(self, point: Point, now: int) -> bool:
        if point.time is not None:
            assert self.began is not None  # noqa: S101 - set by `_phase`
            return now - self.began >= point.time
        assert point.rule is not None  # noqa: S101 - one of the two is given
        return self._names[point.rule].fired >= point.fired

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
    keys = tuple(map(expression, config.when.key))
    size = config.match.size
    return Rule(
        config,
        config.name,
        config.match,
        condition,
        keys,
        config.when,
        config.do,
        sizes=_ANY_SIZE if size is None else size.frames,
        depends=any(reasons(config)),
    )


def _become(message: Message, effects: Effects) -> None:
    """Let a message be what these make of it, for the faults and rules that follow."""
    for effect in effects:
        if isinstance(effect, Become):
            message.become(effect.body, effect.head, effect.what)


def _untils(rule: Rule) -> Iterator[Until]:
    """What its faults wait for, the messages of other connections that they count among them."""
    for fault in rule.faults:
        yield from (value for _, value in _settings(fault.config) if isinstance(value, Until))
        same: Same = getattr(fault.config, "counts", "connection")
        if same != "connection":
            yield Until(direction=rule.match.direction, same=same)


def _settings(config: BaseModel) -> Iterable[tuple[str, object]]:
    return config
