"""Decisions of a coordinator about JoinGroups: accepted or refused, and the next assignment."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from barnabas.designs.brokers.registry.interface import ENTRY_LIMIT
from barnabas.designs.consumer_rewrite import states
from barnabas.designs.consumer_rewrite.peers.answers import Asked, Body
from barnabas.designs.consumer_rewrite.peers.group_entry import Consumer, GroupEntry
from barnabas.designs.consumer_rewrite.peers.settings import BrokerSettings
from barnabas.designs.consumer_rewrite.peers.strategies import (
    BrokenPromise,
    Partition,
    Strategy,
    assigned,
)

NAMED: Final = 200
"""Characters of a group's name that its consumers' ids begin with: the name may be as long as a string can
be, an id with it not."""


TOPICS_LIMIT: Final = 100_000
"""Bytes that the topics of a JoinGroup take in the group's entry, which has those of all."""


@dataclass(frozen=True)
class Join:
    """A JoinGroup that waits for its response."""

    asked: Asked
    consumer: Consumer
    """Its id is empty if the request had none."""

    def identified(self, group: str, new_id: Callable[[], str]) -> Join:
        """Return the JoinGroup with a new ID, if it had none."""
        if self.consumer.consumer_id:
            return self
        consumer_id = f"{group[:NAMED]}-{new_id()}"
        return replace(self, consumer=replace(self.consumer, consumer_id=consumer_id))


def refused(
    body: Body, settings: BrokerSettings, known: bool, others: Sequence[Consumer]
) -> str | None:
    """Return why a JoinGroup is refused; None: it is accepted.

    known: whether the group has given out its id; others: who is in the group beside who asks.
    """
    timeout, strategy = body["session_timeout"], body["partition_assignment_strategy"]
    if timeout > settings.max_session_timeout_ms:
        return states.TIMEOUT_TOO_HIGH
    if timeout < 1 or len(json.dumps(body["topics"])) > TOPICS_LIMIT:
        return states.UNKNOWN
    if strategy not in settings.strategies:
        return states.UNKNOWN_STRATEGY
    if body["consumer_id"] and not known:
        return states.UNKNOWN_CONSUMER
    if any(one.strategy != strategy for one in others):
        return states.INCONSISTENT_STRATEGY
    return None


def subscribed(consumers: Iterable[Consumer], topics: Mapping[str, int]) -> dict[str, int]:
    """Return the existing topics that a consumer subscribes to, with their numbers of partitions."""
    wanted = {topic for one in consumers for topic in one.topics}
    return {topic: topics[topic] for topic in sorted(wanted) if topic in topics}


def decided(
    before: GroupEntry,
    consumers: Sequence[Consumer],
    topics: Mapping[str, int],
    strategies: Mapping[str, Strategy],
) -> GroupEntry:
    """Return the next generation with its assignment. All consumers have the same strategy.

    Raises BrokenPromise if that one gives no assignment, or one that no entry holds.
    """
    partitions = subscribed(consumers, topics)
    owned: dict[str, tuple[Partition, ...]] = {}
    if consumers:
        strategy = strategies[consumers[0].strategy]
        owned = assigned(strategy, {one.consumer_id: one.topics for one in consumers}, partitions)
    entry = GroupEntry(
        before.generation + 1,
        tuple(replace(one, owns=owned[one.consumer_id]) for one in consumers),
        partitions,
        before.offsets,
    )
    size = len(entry.encode())
    if consumers and size > ENTRY_LIMIT:
        raise BrokenPromise(f"an entry of {size} bytes; the most is {ENTRY_LIMIT}")
    return entry
