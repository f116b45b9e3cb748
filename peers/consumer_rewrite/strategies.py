"""Partition assignment strategies, by the friendly names that JoinGroup has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

Partition = tuple[str, int]
"""Topic and number."""

Strategy = Callable[
    [Sequence[tuple[str, frozenset[str]]], Mapping[str, int]], dict[str, list[Partition]]
]
"""(consumer ids with their topics, topic -> its partitions) -> consumer id -> what it owns."""


def by_range(
    consumers: Sequence[tuple[str, frozenset[str]]], topics: Mapping[str, int]
) -> dict[str, list[Partition]]:
    """Each topic apart, in stretches; the first consumers have one more (0.8's default).

    >>> by_range([("a", frozenset("t")), ("b", frozenset("t"))], {"t": 3})
    {'a': [('t', 0), ('t', 1)], 'b': [('t', 2)]}
    """
    owned: dict[str, list[Partition]] = {name: [] for name, _ in sorted(consumers)}
    for topic, count in sorted(topics.items()):
        names = [name for name, subscribed in sorted(consumers) if topic in subscribed]
        at = 0
        for index, name in enumerate(names):
            share = count // len(names) + (index < count % len(names))
            owned[name] += [(topic, number) for number in range(at, at + share)]
            at += share
    return owned


def round_robin(
    consumers: Sequence[tuple[str, frozenset[str]]], topics: Mapping[str, int]
) -> dict[str, list[Partition]]:
    """All partitions in turn, each to the next consumer that subscribes to its topic.

    >>> round_robin([("a", frozenset("tu")), ("b", frozenset("u"))], {"t": 1, "u": 2})
    {'a': [('t', 0), ('u', 1)], 'b': [('u', 0)]}
    """
    subscribed = dict(consumers)
    turn = sorted(subscribed)
    owned: dict[str, list[Partition]] = {name: [] for name in turn}
    for topic, count in sorted(topics.items()):
        for number in range(count):
            taker = next((name for name in turn if topic in subscribed[name]), None)
            if taker is None:
                break
            owned[taker].append((topic, number))
            turn.remove(taker)
            turn.append(taker)
    return owned


STRATEGIES: Final[Mapping[str, Strategy]] = MappingProxyType(
    {"range": by_range, "roundrobin": round_robin}
)
"""What a broker has without partition.assignment.strategies."""
