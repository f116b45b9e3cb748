"""The rules of a scenario: decides which rules fire on a message, and what they do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.context.sessions import KEYS as SESSION_KEYS
from barnabas.proxy.effects import EFFECTS, FINAL, Become, Effect, Effects, Reject
from barnabas.proxy.faults import CONNECTIONS
from barnabas.proxy.matching.match import Match, Same, Until
from barnabas.proxy.matching.message import CONNECT, Message, Unable
from barnabas.proxy.matching.seeded_random import Key, Roll, seeded_roll
from barnabas.proxy.matching.when import Point, When
from barnabas.proxy.rules.rule import Count, Counts, Rule, compiled, count_reason
from barnabas.proxy.scenario.model import RuleConfig, Scenario
from barnabas.proxy.scenario.planned_faults import raised
from barnabas.specs.frames import Direction

REMEMBERED: Final = 4096
"""The entries of caches by API and version: a client may send any key and version."""


class Decision(NamedTuple):
    """The effects of a rule that fired, also as text."""

    rule: str
    effects: Effects
    text: tuple[str, ...]
    depends: bool = False
    """Whether the rule depends on other connections."""
    trouble: tuple[str, ...] = ()
    """The faults that could not be applied, with reasons; `text` has them too."""

    @property
    def is_final(self) -> bool:
        """Return whether the decision ends the message: no later fault or rule applies to it."""
        return any(isinstance(effect, FINAL) for effect in self.effects)


class Rules:
    """The rules of a scenario; none if the scenario is None.

    Rules that `before` has too, with the same name and settings, are the same objects: they continue to
    count.
    """

    def __init__(self, scenario: Scenario | None, before: Rules | None = None) -> None:
        self.scenario = scenario
        self.began: int | None = None
        """The time at which the scenario was loaded, in ns; by default the first message's arrival."""
        self.claim: Callable[[Rule], bool] = _claim if before is None else before.claim
        """Returns whether a rule with `forced` matches may use one of them up."""
        self._seed = 0 if scenario is None else scenario.seed
        earlier = {} if before is None else before._names
        self.rules: tuple[Rule, ...] = tuple(
            _retained(earlier.get(config.name), config) or compiled(config)
            for config in (scenario.rules if scenario else ())
        )
        self._names: dict[str, Rule] = {rule.name: rule for rule in self.rules}
        removed = (
            [] if before is None else [rule for rule in before.rules if rule not in self.rules]
        )
        self._removed_strikes: Counter[str] = _count_strikes(
            removed, () if before is None else before._removed_strikes
        )
        self._attempts: Counts = Counts() if before is None else before._attempts
        self._candidates: dict[tuple[Direction, int, int], tuple[Rule, ...]] = {}
        waits = [(rule, until) for rule in self.rules for until in _untils(rule)]
        self.waits_for: tuple[tuple[Match, Same], ...] = tuple((u, u.same) for _, u in waits)
        """The messages that holds wait for, and the scope in which each must pass."""
        self.needs_group: bool = any(until.same == "group" for _, until in waits) or any(
            getattr(fault.config, "same", "") == "group"
            for rule in self.rules
            for fault in rule.faults
        )
        """Whether a hold or reorder needs the group of a message."""
        self.needs_sessions: bool = any(
            rule.concerns and (rule.match.api is None or rule.match.api & {*SESSION_KEYS})
            for rule in self.rules
        )
        """Whether a rule is about some partitions of Fetch or ShareFetch, which a session may have."""
        self.needs_request: tuple[Match, ...] = tuple(
            match
            for match, asks in (
                *((rule.match, rule.asks) for rule in self.rules),
                *((until, False) for _, until in waits),
            )
            if (match.names or asks) and match.direction != "request"
        )
        """The matches that need the request of a response."""

    @property
    def struck(self) -> Counter[str]:
        """Return how often each fault struck, by these rules and by those before them."""
        return _count_strikes(self.rules, self._removed_strikes)

    def meta(self) -> dict[str, Any]:
        """Return what a capture stores of the rules: with it, the same traffic meets the same decisions."""
        if self.scenario is None:
            return {}
        return {**self.scenario.meta(), "began": self.began}

    def candidates(self, direction: Direction, key: int, version: int) -> tuple[Rule, ...]:
        """Return the rules that may match such a message, in one look-up; mostly ()."""
        rules = self._candidates.get((direction, key, version))
        if rules is None:
            rules = tuple(
                rule
                for rule in self.rules
                if rule.match.key_matches(direction, key, version)
                and not isinstance(rule.faults[0].config, CONNECTIONS)
            )
            if len(self._candidates) < REMEMBERED:
                self._candidates[direction, key, version] = rules
        return rules

    def connecting(self, broker: int | None, ordinal: int, now: int) -> Reject | None:
        """Return how a rule refuses an attempt to connect; None if no rule does.

        `ordinal` is the number of the attempt among those to this broker.
        """
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
        """Return the decisions of the candidates that fire, in order.

        A decision that loses the message or closes its connection ends the list. The candidates are those of
        the message's API, version, direction and peers, see `State.candidates`.
        """
        decisions: list[Decision] = []
        for rule in candidates:
            if not rule.meets(message):
                continue
            decision = self._fire(rule, message, counts)
            if decision is None:
                continue
            decisions.append(decision)
            if decision.is_final:
                break
        return decisions

    def _fire(self, rule: Rule, message: Message, counts: Counts) -> Decision | None:
        """Count a match, and return the rule's decision if the rule fires."""
        count = counts.of(rule)
        roll = self._roll(rule, message, count)
        if roll is None:
            return None
        count.fired += 1
        rule.total.fired += 1
        effects: list[Effect] = []
        text: list[str] = []
        trouble: list[str] = []
        for index, fault in enumerate(rule.faults):
            fault_effects, reason = _effects_of(rule, index, count, message, roll)
            if reason:
                rule.unable += 1
                count_reason(rule.troubles, f"{fault.name}: {reason}")
                trouble.append(f"{fault.name} could not be done: {reason}")
                text.append(trouble[-1])
            effects += fault_effects
            text += map(str, fault_effects)
            for effect in fault_effects:
                if isinstance(effect, Become):
                    message.become(effect.body, effect.head, effect.what)
            if any(isinstance(effect, FINAL) for effect in fault_effects):
                break
        return Decision(rule.name, tuple(effects), tuple(text), rule.depends, tuple(trouble))

    def _roll(self, rule: Rule, message: Message, connection_count: Count) -> Roll | None:
        """Count a match, and return the numbers that the rule's faults draw from if it fires.

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
        count = connection_count if when.scope == "connection" else rule.total
        ordinal, fired = count.matched, count.fired
        connection_count.matched += 1
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
        """Return the share of matches on which a rule fires now; None if messages do not match now."""
        if self.began is None:
            self.began = now
        start = self.began
        if when.after is not None:
            if not self._passed(when.after, now):
                return None
            start += when.after.time or 0
        if when.until is not None and self._passed(when.until, now):
            return None
        if not when.phases:
            return 1.0
        elapsed = (now - start) % sum(phase.lasts for phase in when.phases)
        for phase in when.phases:
            if elapsed < phase.lasts:
                return phase.probability or None
            elapsed -= phase.lasts
        raise AssertionError(elapsed)

    def _passed(self, point: Point, now: int) -> bool:
        if point.time is not None:
            assert self.began is not None  # noqa: S101 - set by `_phase`
            return now - self.began >= point.time
        assert point.rule is not None  # noqa: S101 - one of the two is given
        return self._names[point.rule].fired >= point.fired

    def rule(self, name: str) -> Rule:
        """Return a rule by its name.

        Raises:
            KeyError: There is no such rule.
        """
        return self._names[name]

    def shared(self, others: Rules) -> frozenset[str]:
        """Return the names of the rules that are the same objects in both."""
        return frozenset(name for name, rule in self._names.items() if rule in others.rules)

    def change(self, before: Rules) -> str:
        """Return a description of the change from the rules before these."""
        shared = self.shared(before)
        removed, added = (
            [name for name in rules._names if name not in shared] for rules in (before, self)
        )
        match removed, added:
            case [], [name]:
                return f"rule {name!r} added"
            case [name], []:
                return f"rule {name!r} removed"
        return "replaced"


def _effects_of(
    rule: Rule, index: int, count: Count, message: Message, roll: Roll
) -> tuple[Effects, str]:
    """Return the effects that a rule's fault asks for; or none, and the reason."""
    fault = rule.faults[index]
    try:
        effects = fault.act(fault.config, message, roll, *rule.state(index, count))
        if all(isinstance(effect, EFFECTS) for effect in effects):
            return effects, ""
        return (), f"it returned {type(effects).__name__}, not a tuple of effects"
    except Unable as problem:
        message.missing_names |= problem.ids
        return (), str(problem) if message.quotes else problem.place
    except (Exception, SystemExit) as problem:  # noqa: BLE001 - a user's fault costs its rule, not the proxy
        reason = raised(problem) if message.quotes else type(problem).__name__
        return (), f"it raised {reason}"


def _count_strikes(rules: Iterable[Rule], before: Iterable[str]) -> Counter[str]:
    """Return how often each fault struck by some rules, added to earlier counts."""
    counts = Counter(before)
    for rule in rules:
        counts.update({fault.name: rule.fired for fault in rule.faults})
    return counts


def _claim(rule: Rule) -> bool:
    rule.forced -= 1
    return True


def _retained(rule: Rule | None, config: RuleConfig) -> Rule | None:
    return rule if rule is not None and rule.config == config else None


def _untils(rule: Rule) -> Iterator[Until]:
    """Yield the messages that the rule's faults wait for, on any connection."""
    for fault in rule.faults:
        yield from fault.untils
        same: Same = getattr(fault.config, "counts", "connection")
        if same != "connection":
            yield Until(direction=rule.match.direction, same=same)
