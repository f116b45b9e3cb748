"""What the rules of a scenario would do to exchanges that have passed: each message is put to them once more.

A rehearsal (`barnabas.proxy.rehearsal`) runs whole connections of a capture; here there are exchanges only,
the last ones of a proxy or of a capture, and nothing is carried out.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from barnabas.captures.kafka.exchange import STAND_INS, Exchange
from barnabas.captures.values.value import Values
from barnabas.proxy.connection.ordinals import Ordinals, short_client_id
from barnabas.proxy.effects import FINAL
from barnabas.proxy.faults import CONNECTIONS
from barnabas.proxy.matching.passed import passed
from barnabas.proxy.rules.candidates import Candidates
from barnabas.proxy.rules.outcome import causes
from barnabas.proxy.rules.rule import Counts, Rule
from barnabas.proxy.rules.rules import Rules
from barnabas.proxy.scenario.model import Scenario
from barnabas.specs.frames import Direction

LIMITS: Final = (
    "Messages are taken as they passed: times count from the first of these exchanges, connections are "
    "counted from those among them, and what clients would have done otherwise is not known."
)
"""What a dry run can't know."""

ATTEMPTS: Final = "it is about attempts to connect, which are no messages"


@dataclass(slots=True)
class Tried:
    """One rule: how many messages it would have matched and fired on, and in which exchanges."""

    name: str
    matched: int = 0
    fired: int = 0
    undecided: int = 0
    """Messages that could not be decided on: no match."""
    why: str = ""
    """The reasons of these, or why the rule was not asked."""
    matches: list[int] = field(default_factory=list)
    """Numbers of exchanges with a message that matched, rising."""
    fires: list[int] = field(default_factory=list)
    """The same of those on which it fired."""

    def row(self) -> dict[str, Any]:
        """In JSON form."""
        return {name: getattr(self, name) for name in self.__slots__}


class _Track:
    """What one connection counts."""

    def __init__(self, rules: Rules, broker: int | None, ordinal: int) -> None:
        self.ordinal = ordinal
        self.candidates = Candidates(rules, broker, ordinal)
        self.counts = Counts()


def dry_run(
    scenario: Scenario,
    exchanges: Iterable[tuple[int, Exchange]],
    topics: Mapping[uuid.UUID, str] | None = None,
    reading: Values | None = None,
) -> list[Tried]:
    """Each rule, in the scenario's order. Exchanges come with their numbers; topics: names by id.
    reading: how rules read keys and values of records.

    A response is not asked about where its request would not have reached the broker.
    """
    rules, ordinals = Rules(scenario), Ordinals()
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
        asked = track.candidates.of(direction, exchange.key, exchange.version, exchange.client_id)
        if not asked or number in lost:
            continue
        before = [rule.matched for rule in asked]
        message = passed(exchange, direction, track.ordinal, topics, reading)
        for decision in rules.decide(asked, message, track.counts):
            fires[decision.rule].add(number)
            if direction == "request" and any(isinstance(e, FINAL) for e in decision.effects):
                lost.add(number)
        for rule, count in zip(asked, before, strict=True):
            if rule.matched > count:
                matches[rule.name].add(number)
    return [_tried(rule, matches[rule.name], fires[rule.name]) for rule in rules.rules]


def _in_time(
    exchanges: Iterable[tuple[int, Exchange]],
) -> list[tuple[int, Exchange, Direction]]:
    """Requests and responses in the order in which they came, those of tokens and the like left out."""
    found: list[tuple[int, int, int, Exchange, Direction]] = []
    for number, exchange in exchanges:
        if exchange.key in STAND_INS:
            continue
        found.append((exchange.ts, number, 0, exchange, "request"))
        if exchange.response_size is not None:
            came = exchange.received or exchange.end
            found.append((came, number, 1, exchange, "response"))
    found.sort(key=lambda each: each[:3])
    return [(number, exchange, direction) for _, number, _, exchange, direction in found]


def _tried(rule: Rule, matches: set[int], fires: set[int]) -> Tried:
    why = causes(Counter(rule.doubts), rule.unclear) if rule.unclear else ""
    if any(isinstance(fault.config, CONNECTIONS) for fault in rule.faults):
        why = ATTEMPTS
    return Tried(
        rule.name, rule.matched, rule.fired, rule.unclear, why, sorted(matches), sorted(fires)
    )
