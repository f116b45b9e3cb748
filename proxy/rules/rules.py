"""The rules of a scenario: which of them a message meets, and what they decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

from barnabas.proxy.effects import EFFECTS, FINAL, Become, Effect, Effects, Reject
from barnabas.proxy.faults import CONNECTIONS
from barnabas.proxy.matching.match import Match, Same, Until
from barnabas.proxy.matching.message import CONNECT, Message, Unable
from barnabas.proxy.matching.seeded_random import Key, Roll, seeded_roll
from barnabas.proxy.matching.when import Point, When
from barnabas.proxy.rules.rule import Count, Counts, Rule, compiled, note
from barnabas.proxy.scenario.model import RuleConfig, Scenario
from barnabas.proxy.scenario.planned import raised
from barnabas.specs.frames import Direction

REMEMBERED: Final = 4096
"""Kinds of message of which something is remembered: a client may send any key and version."""


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
        self.claim: Callable[[Rule], bool] = _claim if before is None else before.claim
        """Whether a rule that is to fire on its next match still is: once for each time."""
        self._seed = 0 if scenario is None else scenario.seed
        known = {} if before is None else before._names
        self.rules: tuple[Rule, ...] = tuple(
            _same(known.get(config.name), config) or compiled(config)
            for config in (scenario.rules if scenario else ())
        )
        self._names: dict[str, Rule] = {rule.name: rule for rule in self.rules}
        gone = [] if before is None else [rule for rule in before.rules if rule not in self.rules]
        self._past: Counter[str] = _strikes(gone, () if before is None else before._past)
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
            for match, asks in (
                *((rule.match, rule.asks) for rule in self.rules),
                *((until, False) for _, until in waits),
            )
            if (match.names or asks) and match.direction != "request"
        )
        """Who must know of a response what its request said."""

    @property
    def struck(self) -> Counter[str]:
        """How often each fault struck, by these rules and those before them."""
        return _strikes(self.rules, self._past)

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
                decision = self._fire(rule, attempt, self._attempts)
                for effect in decision.effects if decision else ():
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
            decision = self._fire(rule, message, counts)
            if decision is None:
                continue
            decisions.append(decision)
            if any(isinstance(effect, FINAL) for effect in decision.effects):
                break
        return decisions

    def _fire(self, rule: Rule, message: Message, counts: Counts) -> Decision | None:
        """Count a message that a rule matches; decide about it if the rule fires."""
        own = counts.of(rule)
        roll = self._roll(rule, message, own)
        if roll is None:
            return None
        own.fired += 1
        rule.total.fired += 1
        effects: list[Effect] = []
        text: list[str] = []
        trouble: list[str] = []
        for place, fault in enumerate(rule.faults):
            wanted, why = _ask(rule, place, own, message, roll)
            if why:
                rule.unable += 1
                note(rule.troubles, f"{fault.name}: {why}")
                trouble.append(f"{fault.name} could not be done: {why}")
                text.append(trouble[-1])
            effects += wanted
            text += map(str, wanted)
            for effect in wanted:
                if isinstance(effect, Become):
                    message.become(effect.body, effect.head, effect.what)
            if any(isinstance(effect, FINAL) for effect in wanted):
                break
        return Decision(rule.name, tuple(effects), tuple(text), rule.depends, tuple(trouble))

    def _roll(self, rule: Rule, message: Message, own: Count) -> Roll | None:
        """Count a match; return the numbers that the rule's faults draw from if it fires, else None.

        The first number is always for the rule's probability, so another probability changes nothing else.
        """
        when = rule.when
        probability = when.probability
        forced = rule.forced > 0 and self.claim(rule)
        if when.timed:
            share = self._phase(when, message.arrived)
            if share is None and not forced:
                return None
            probability *= 1.0 if share is None else share
        count = own if when.scope == "connection" else rule.total
        ordinal, fired = count.matched, count.fired
        own.matched += 1
        rule.total.matched += 1
        if not (forced or when.counts(ordinal, fired)):
            return None
        key: Key = (ordinal,)
        if when.scope == "connection":
            key = (message.client_id, message.broker, message.ordinal, ordinal)
        if when.key:
            key = tuple(rule.key_of(message))
        roll = seeded_roll(self._seed, rule.name, key)
        return roll if roll() < probability or forced else None

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

    def change(self, before: Rules) -> str:
        """What became of the rules before these, in words."""
        same = self.shared(before)
        gone, new = (
            [name for name in rules._names if name not in same] for rules in (before, self)
        )
        match gone, new:
            case [], [name]:
                return f"rule {name!r} added"
            case [name], []:
                return f"rule {name!r} removed"
        return "replaced"


def _ask(rule: Rule, place: int, own: Count, message: Message, roll: Roll) -> tuple[Effects, str]:
    """Return the effects that a rule's fault asks for, or none and why it could not be done."""
    fault = rule.faults[place]
    try:
        wanted = fault.act(fault.config, message, roll, *rule.state(place, own))
        if all(isinstance(effect, EFFECTS) for effect in wanted):
            return wanted, ""
        return (), f"it returned {type(wanted).__name__}, not a tuple of effects"
    except Unable as problem:
        return (), str(problem) if message.quotes else problem.place
    except (Exception, SystemExit) as problem:  # noqa: BLE001 - a user's fault costs its rule, not the proxy
        why = raised(problem) if message.quotes else type(problem).__name__
        return (), f"it raised {why}"


def _strikes(rules: Iterable[Rule], before: Iterable[str]) -> Counter[str]:
    """How often each fault struck by some rules, and by those before them."""
    counts = Counter(before)
    for rule in rules:
        counts.update({fault.name: rule.fired for fault in rule.faults})
    return counts


def _claim(rule: Rule) -> bool:
    rule.forced -= 1
    return True


def _same(rule: Rule | None, config: RuleConfig) -> Rule | None:
    return rule if rule is not None and rule.config == config else None


def _untils(rule: Rule) -> Iterator[Until]:
    """What its faults wait for, the messages of other connections that they count among them."""
    for fault in rule.faults:
        yield from fault.untils
        same: Same = getattr(fault.config, "counts", "connection")
        if same != "connection":
            yield Until(direction=rule.match.direction, same=same)
