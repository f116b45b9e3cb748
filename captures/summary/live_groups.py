"""Show the present state of groups: members, generation, and lag."""

from __future__ import annotations

from collections import Counter
from typing import Any

from barnabas.captures.checks.dialect_groups import DialectGroups
from barnabas.captures.checks.epochs import Epochs
from barnabas.captures.checks.generations import Generations
from barnabas.captures.checks.groups import Group
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.summary.lag import Lag


class LiveGroups:
    """The present state of all groups.

    >>> LiveGroups(Context()).rows()
    []
    """

    def __init__(self, context: Context) -> None:
        self._dialects = DialectGroups()
        self._of = (Generations(), Epochs(), Generations(read=self._dialects.of))
        self._lag = Lag(context)

    @property
    def forgotten(self) -> int:
        """Return the number of dropped groups of dialects, and of dropped offsets."""
        return self._dialects.forgotten + self._lag.forgotten

    def add(self, exchange: Exchange) -> None:
        """Add an exchange from which the context has learned, in the order in which exchanges end."""
        for groups in self._of:
            for _ in groups.learn(exchange):
                pass  # the state of the group has the news
        self._lag.add(exchange)

    def rows(self) -> list[dict[str, Any]]:
        """Return the groups in JSON form, by name.

        `lag` is the sum over partitions with a known end offset; null if no end offset is known.
        """
        lags: Counter[str] = Counter()
        for (group, *_), lag in self._lag.lags():
            if lag is not None:
                lags[group] += lag
        states = {name: state for groups in self._of for name, state in groups.states()}
        return [_row(name, states.get(name), lags.get(name)) for name in sorted({*states, *lags})]


def _row(name: str, group: Group | None, lag: int | None) -> dict[str, Any]:
    generation = None if group is None else group.now
    return {
        "name": name,
        "type": None if generation is None else generation.type,
        "protocol": None if generation is None else generation.protocol or None,
        "generation": None if generation is None else generation.number,
        "members": None if group is None else len(group.members),
        "state": None if group is None else _state(group),
        "lag": lag,
    }


def _state(group: Group) -> str | None:
    """Return the state of a group in Kafka's words, in lower case; None: unknown."""
    if not group.members:
        return "empty"
    generation = group.now
    if generation is None or generation.type in ("consumer", "share", "streams"):
        return None  # a coordinator of KIP-848 moves partitions member by member
    return "stable" if generation.assigned and not group.pending else "rebalancing"
