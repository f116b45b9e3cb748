"""Passes past exchanges to the rules of a scenario once more, and reports what the rules would do.

A rehearsal (`barnabas.proxy.rehearsal`) runs whole connections of a capture. A dry run takes single
exchanges, the last ones of a proxy or of a capture, and carries nothing out.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from barnabas.captures.kafka.context.sessions import KEYS as SESSION_KEYS
from barnabas.captures.kafka.context.sessions import Sessions
from barnabas.captures.kafka.exchange import STAND_INS, Exchange
from barnabas.captures.values.value import Values
from barnabas.proxy.connection.ordinals import Ordinals, short_client_id
from barnabas.proxy.faults import CONNECTIONS
from barnabas.proxy.matching.past_message import past_message
from barnabas.proxy.rules.candidates import Candidates
from barnabas.proxy.rules.outcome import causes
from barnabas.proxy.rules.rule import Counts, Rule
from barnabas.proxy.rules.rules import Rules
from barnabas.proxy.scenario.model import Scenario
from barnabas.specs.frames import Direction

LIMITS: Final = (
    "Messages are evaluated as recorded: times count from the first of these exchanges, only "
    "their connections are counted, and clients' reactions to faults are unknown."
)
"""The limitations of a dry run."""

ATTEMPTS: Final = "it applies to connection attempts, not to messages"


@dataclass(slots=True)
class RuleTrial:
    """The result of one rule: the messages that it would match and fire on, and their exchanges."""

    name: str
    matched: int = 0
    fired: int = 0
    undecided: int = 0
    """Messages on which the rule was undecided; they did not match."""
    why: str = ""
    """The reasons of `undecided`, or the reason for which the rule was not asked."""
    matches: list[int] = field(default_factory=list)
    """The numbers of exchanges with a matching message, ascending."""
    fires: list[int] = field(default_factory=list)
    """The numbers of exchanges with a message that the rule fired on, ascending."""

    def row(self) -> dict[str, Any]:
        """Return the result in JSON form."""
        return {name: getattr(self, name) for name in self.__slots__}


class _Track:
    """The counts of one connection."""

    def __init__(self, rules: Rules, broker: int | None, ordinal: int) -> None:
        self.ordinal = ordinal
        self.candidates = Candidates(rules, broker, ordinal)
        self.counts = Counts()


def dry_run(
    scenario: Scenario,
    exchanges: Iterable[tuple[int, Exchange]],
    topics: Mapping[uuid.UUID, str] | None = None,
    reading: Values | None = None,
) -> list[RuleTrial]:
    """Return the result of each rule, in the scenario's order.

    A response is not passed to the rules if its request would not have reached the broker.

    Args:
        scenario: The scenario.
        exchanges: The exchanges with their numbers.
        topics: Names of topics by id.
        reading: How rules decode keys and values of records.
    """
    rules, ordinals, sessions = Rules(scenario), Ordinals(), Sessions()
    tracks: dict[int, _Track] = {}
    matches: dict[str, set[int]] = {rule.name: set() for rule in rules.rules}
    fires: dict[str, set[int]] = {rule.name: set() for rule in rules.rules}
    lost: set[int] = set()
    for number, exchange, direction in _in_time(exchanges):
        if rules.began is None:
            rules.began = exchange.ts
        track = tracks.get(exchange.connection)
        if track is None:
            ordinal = ordinals(short_client_id(exchange.client_id), exchange.node)
            track = tracks[exchange.connection] = _Track(rules, exchange.node, ordinal)
        candidates = track.candidates.of(
            direction, exchange.key, exchange.version, exchange.client_id
        )
        if direction == "response" and exchange.key in SESSION_KEYS:
            sessions.learn(exchange)
        if not candidates or number in lost:
            continue
        before = [rule.matched for rule in candidates]
        message = past_message(exchange, direction, track.ordinal, topics, reading, sessions)
        for decision in rules.decide(candidates, message, track.counts):
            fires[decision.rule].add(number)
            if direction == "request" and decision.is_final:
                lost.add(number)
        for rule, count in zip(candidates, before, strict=True):
            if rule.matched > count:
                matches[rule.name].add(number)
    return [_tried(rule, matches[rule.name], fires[rule.name]) for rule in rules.rules]


def _in_time(
    exchanges: Iterable[tuple[int, Exchange]],
) -> list[tuple[int, Exchange, Direction]]:
    """Return requests and responses in the order of their arrival, without SASL tokens and the like."""
    messages: list[tuple[int, int, int, Exchange, Direction]] = []
    for number, exchange in exchanges:
        if exchange.key in STAND_INS:
            continue
        messages.append((exchange.ts, number, 0, exchange, "request"))
        if exchange.response_size is not None:
            arrived = exchange.received or exchange.end
            messages.append((arrived, number, 1, exchange, "response"))
    messages.sort(key=lambda each: each[:3])
    return [(number, exchange, direction) for _, number, _, exchange, direction in messages]


def _tried(rule: Rule, matches: set[int], fires: set[int]) -> RuleTrial:
    reasons = causes(Counter(rule.doubts), rule.unclear) if rule.unclear else ""
    if any(isinstance(fault.config, CONNECTIONS) for fault in rule.faults):
        reasons = ATTEMPTS
    return RuleTrial(
        rule.name, rule.matched, rule.fired, rule.unclear, reasons, sorted(matches), sorted(fires)
    )
