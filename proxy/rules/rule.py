"""One compiled rule and its counts."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final
from weakref import WeakKeyDictionary

from barnabas.captures.kafka.expression import Expression, Unclear, expression
from barnabas.proxy.faults import PerRule
from barnabas.proxy.matching.match import Match
from barnabas.proxy.matching.message import Message, UnknownSession, Unnamed
from barnabas.proxy.matching.record import any_holds
from barnabas.proxy.matching.when import When
from barnabas.proxy.scenario.lint.dependence import reasons
from barnabas.proxy.scenario.model import RuleConfig
from barnabas.proxy.scenario.planned_faults import PlannedFault

_WORD: Final = re.compile(r"\w+")

MAX_REPORTS: Final = 10
"""The number of reports about a recurring problem."""

MAX_REASONS: Final = 100
"""The number of different reasons that are counted for a rule."""

_ANY_SIZE: Final = range(1 << 32)


@dataclass(slots=True)
class Count:
    """The matches and firings of a rule, and the states of its faults."""

    matched: int = 0
    fired: int = 0
    states: dict[int, Any] = field(default_factory=dict)
    """The states of the rule's faults, by the fault's index in the rule."""


class Counts:
    """The counts of each rule on one connection."""

    def __init__(self) -> None:
        self._counts: WeakKeyDictionary[Rule, Count] = WeakKeyDictionary()

    def of(self, rule: Rule) -> Count:
        """Return a rule's count on this connection. It ends with the rule, even if another gets its name."""
        return self._counts.setdefault(rule, Count())


@dataclass(slots=True, eq=False, weakref_slot=True)
class Rule:
    """A compiled rule, and its counts over all connections."""

    config: RuleConfig
    """The rule as it stands in the scenario."""
    name: str
    match: Match
    where: Expression | None
    record: Expression | None
    keys: tuple[Expression, ...]
    """The expressions that chance depends on; () if it depends on the connection."""
    when: When
    faults: tuple[PlannedFault, ...]
    total: Count = field(default_factory=Count)
    sizes: range = _ANY_SIZE
    """The sizes of matching frames, without their size field."""
    released: int = 0
    """The number of held messages whose release condition was met; the connection counts them."""
    expired: int = 0
    """The number of held messages whose time was up; the connection counts them."""
    ended: int = 0
    """The number of held messages that left when their connection ended; the connection counts them."""
    unclear: int = 0
    """The number of undecided messages: the body cannot be read, or the condition cannot be decided."""
    unable: int = 0
    """The number of faults that could not be applied; the message stayed unchanged."""
    troubles: Counter[str] = field(default_factory=Counter)
    """The reasons of `unable` with their counts; at most MAX_REASONS reasons."""
    doubts: Counter[str] = field(default_factory=Counter)
    """The reasons of `unclear` with their counts; at most MAX_REASONS reasons."""
    doubt: str = ""
    """The reason of the latest undecided message."""
    reported: set[str] = field(default_factory=lambda: {""})
    """The reasons that were reported."""
    depends: bool = False
    """Whether the rule depends on other connections, see `barnabas.proxy.scenario.lint.dependence`."""
    concerns: tuple[Callable[[Message], bool], ...] = ()
    """Functions of the faults that return whether a message has an entry that they are about."""
    forced: int = 0
    """The number of next matches that fire whatever `when` says."""

    @property
    def matched(self) -> int:
        """Return the number of messages that matched, the condition included."""
        return self.total.matched

    @property
    def fired(self) -> int:
        """Return the number of matches on which the rule fired."""
        return self.total.fired

    @property
    def needs_body(self) -> bool:
        """Return whether the rule needs a message's body."""
        conditions = self.where is not None or self.record is not None
        return conditions or bool(self.keys) or self.match.needs_body or bool(self.concerns)

    @property
    def asks(self) -> bool:
        """Return whether a fault of the rule needs the request of a response."""
        return any(getattr(fault.config, "asks", False) for fault in self.faults)

    def meets(self, message: Message) -> bool:
        """Return whether a message meets the content conditions; `Rules.decide` has checked its header.

        An undecided condition is not met. It is counted, and the missing topic names are added to
        `message.missing_names`.
        """
        try:
            return (
                self.match.content_matches(message)
                and self._holds(message)
                and (self.record is None or any_holds(self.record, message))
                and all(concerns(message) for concerns in self.concerns)
            )
        except Unclear as unclear:
            if isinstance(unclear, Unnamed):
                message.missing_names |= unclear.ids
            if isinstance(unclear, UnknownSession):
                message.undecided_by_session = self.name
            self.unclear += 1
            self.doubt = str(unclear)
            count_reason(self.doubts, self.doubt)
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
        """Return the reason for which the latest message was undecided, if it is to be reported; else "".

        Each reason is reported once, and at most MAX_REPORTS reasons are.
        """
        if self.doubt in self.reported or len(self.reported) >= MAX_REPORTS:
            return ""
        self.reported.add(self.doubt)
        return self.doubt

    def key_of(self, message: Message) -> Iterable[str]:
        """Yield the values that chance depends on, as JSON; null where the body does not decide."""
        for key in self.keys:
            fields = message.fields(*(key.roots or ())) or {}
            try:
                yield json.dumps(key.value(fields), sort_keys=True)
            except Unclear:
                yield "null"

    def state(self, index: int, count: Count) -> tuple[Any, ...]:
        """Return the further arguments of a fault's function: its state, if it has one.

        Args:
            index: The index of the fault in the rule.
            count: The rule's count on the message's connection.
        """
        scope = self.faults[index].state
        if scope is None:
            return ()
        states = (self.total if isinstance(scope, PerRule) else count).states
        if index not in states:
            states[index] = scope.new()
        return (states[index],)


def count_reason(counts: Counter[str], reason: str) -> None:
    """Count a reason; beyond MAX_REASONS different reasons new ones are not counted."""
    if reason in counts or len(counts) < MAX_REASONS:
        counts[reason] += 1


def compiled(config: RuleConfig) -> Rule:
    """Return a rule of a scenario, ready for messages."""
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
        concerns=tuple(
            concerns
            for fault in config.do
            if (concerns := getattr(fault.config, "concerns", None)) is not None
        ),
    )
