"""One rule, compiled, and what became of it so far."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final
from weakref import WeakKeyDictionary

from barnabas.captures.kafka.expression import Expression, Unclear, expression
from barnabas.proxy.faults import PerRule
from barnabas.proxy.matching.match import Match
from barnabas.proxy.matching.message import Message, Unnamed
from barnabas.proxy.matching.record import any_holds
from barnabas.proxy.matching.when import When
from barnabas.proxy.scenario.lint.dependence import reasons
from barnabas.proxy.scenario.model import RuleConfig
from barnabas.proxy.scenario.planned import Planned

_WORD: Final = re.compile(r"\w+")

SAID: Final = 10
"""So often something that happens again and again is said."""

KINDS: Final = 100
"""So many causes of a rule's troubles are told apart."""

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
    record: Expression | None
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
    ended: int = 0
    """Messages that stood aside until their connection ended; the connection counts them."""
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
        conditions = self.where is not None or self.record is not None
        return conditions or bool(self.keys) or self.match.needs_body

    @property
    def asks(self) -> bool:
        """Whether a fault of it wants the request of a response."""
        return any(getattr(fault.config, "asks", False) for fault in self.faults)

    def meets(self, message: Message) -> bool:
        """Whether content and condition are met; the header is, see `Rules.decide`.

        What can't be decided is not met, and is counted; the names that it lacks are `wanted`.
        """
        try:
            return (
                self.match.content_matches(message)
                and self._holds(message)
                and (self.record is None or any_holds(self.record, message))
            )
        except Unclear as unclear:
            if isinstance(unclear, Unnamed):
                message.wanted |= unclear.ids
            self.unclear += 1
            self.doubt = str(unclear)
            note(self.doubts, self.doubt)
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

    def state(self, place: int, own: Count) -> tuple[Any, ...]:
        """What its fault at a place gets beside message and chance: its state, if it keeps one.

        `own` is the rule's count on the message's connection.
        """
        kept = self.faults[place].state
        if kept is None:
            return ()
        states = (self.total if isinstance(kept, PerRule) else own).states
        if place not in states:
            states[place] = kept.new()
        return (states[place],)


def note(found: Counter[str], why: str) -> None:
    """Count a cause; of those that come when there are KINDS, nobody knows."""
    if why in found or len(found) < KINDS:
        found[why] += 1


def compiled(config: RuleConfig) -> Rule:
    """A rule as a scenario has it, ready for messages."""
    condition = None if config.where is None else expression(config.where)
    record = None if config.record is None else expression(config.record)
    keys = tuple(map(expression, config.when.key))
    size = config.match.size
    return Rule(
        config,
        config.name,
        config.match,
        condition,
        record,
        keys,
        config.when,
        config.do,
        sizes=_ANY_SIZE if size is None else size.frames,
        depends=any(reasons(config)),
    )
