"""Partition assignment strategies, by the friendly names that JoinGroup has, and what each one promises."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

Partition = tuple[str, int]
"""Topic and number."""

Strategy = Callable[
    [Sequence[tuple[str, frozenset[str]]], Mapping[str, int]], dict[str, list[Partition]]
]
"""(consumer ids with their topics, topic -> its partitions) -> consumer id -> what it owns.

It promises an entry for each consumer and none for anybody else, and that each partition is owned once,
by a consumer that subscribes to its topic.
"""


class BrokenPromise(Exception):
    """A strategy has raised something, or what it gave is no assignment."""


def assigned(
    strategy: Strategy, consumers: Mapping[str, frozenset[str]], topics: Mapping[str, int]
) -> dict[str, tuple[Partition, ...]]:
    """What each consumer owns, by a strategy that may be anybody's. Raises BrokenPromise.

    consumers: ids with their topics. topics: those of which each has a subscriber, with their partitions.
    """
    try:
        return _checked(strategy(list(consumers.items()), dict(topics)), consumers, topics)
    except BrokenPromise:
        raise
    except Exception as problem:
        raise BrokenPromise(f"{type(problem).__name__}: {problem}") from problem


def _checked(
    given: Mapping[str, Iterable[Partition]],
    consumers: Mapping[str, frozenset[str]],
    topics: Mapping[str, int],
) -> dict[str, tuple[Partition, ...]]:
    for name in given:
        if name not in consumers:
            raise BrokenPromise(f"partitions for {name!r}, who is not in the group")
    free = {(topic, number): (topic, number) for topic in topics for number in range(topics[topic])}
    owned: dict[str, tuple[Partition, ...]] = {}
    for name, subscribed in consumers.items():
        if name not in given:
            raise BrokenPromise(f"nothing is said of consumer {name}")
        owns = []
        for at in given[name]:
            found = free.pop(at, None)  # ours: ("t", True) equals ("t", 1), too
            if found is None:
                raise BrokenPromise(f"{at!r} was given before, or does not exist")
            if found[0] not in subscribed:
                raise BrokenPromise(f"{at!r} for {name}, who does not subscribe to it")
            owns.append(found)
        owned[name] = tuple(owns)
    if free:
        raise BrokenPromise(f"nobody owns {next(iter(free))!r}, and {len(free) - 1} more")
    return owned


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
