"""Partition assignment strategies, by their friendly names in JoinGroup, and a check of their results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

Partition = tuple[str, int]
"""Topic and number."""

Strategy = Callable[
    [Sequence[tuple[str, frozenset[str]]], Mapping[str, int]], dict[str, list[Partition]]
]
"""A function of (consumer ids with their topics, topic -> its partitions) that returns consumer id -> its
partitions. It promises an entry for each consumer and no other, and one owner for each partition, which
subscribes to its topic."""


class BrokenPromise(Exception):
    """A strategy raised an exception, or its result is not an assignment."""


def assigned(
    strategy: Strategy, consumers: Mapping[str, frozenset[str]], topics: Mapping[str, int]
) -> dict[str, tuple[Partition, ...]]:
    """Return each consumer's partitions by a strategy, which may be a user's.

    consumers: ids with their topics. topics: topics with subscribers, and their partitions. Raises
    BrokenPromise.
    """
    try:
        return _checked(strategy(list(consumers.items()), dict(topics)), consumers, topics)
    except BrokenPromise:
        raise
    except Exception as problem:
        raise BrokenPromise(f"{type(problem).__name__}: {problem}") from problem


def _checked(
    assignment: Mapping[str, Iterable[Partition]],
    consumers: Mapping[str, frozenset[str]],
    topics: Mapping[str, int],
) -> dict[str, tuple[Partition, ...]]:
    for name in assignment:
        if name not in consumers:
            raise BrokenPromise(f"partitions for {name!r}, who is not in the group")
    free = {(topic, number): (topic, number) for topic in topics for number in range(topics[topic])}
    owned: dict[str, tuple[Partition, ...]] = {}
    for name, subscribed in consumers.items():
        if name not in assignment:
            raise BrokenPromise(f"nothing is said of consumer {name}")
        owns = []
        for at in assignment[name]:
            partition = free.pop(at, None)  # ours: ("t", True) equals ("t", 1), too
            if partition is None:
                raise BrokenPromise(f"{at!r} was given before, or does not exist")
            if partition[0] not in subscribed:
                raise BrokenPromise(f"{at!r} for {name}, who does not subscribe to it")
            owns.append(partition)
        owned[name] = tuple(owns)
    if free:
        raise BrokenPromise(f"nobody owns {next(iter(free))!r}, and {len(free) - 1} more")
    return owned


def by_range(
    consumers: Sequence[tuple[str, frozenset[str]]], topics: Mapping[str, int]
) -> dict[str, list[Partition]]:
    """Assign each topic in ranges; the first consumers have one partition more (0.8's default)."""
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
    """Assign all partitions in turn, each to the next consumer that subscribes to its topic."""
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
"""A broker's strategies without partition.assignment.strategies."""
