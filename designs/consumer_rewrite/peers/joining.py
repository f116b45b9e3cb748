"""Decisions of a coordinator about JoinGroups: accepted or refused, and the next assignment."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from barnabas.designs.brokers.registry.interface import ENTRY_LIMIT
from barnabas.designs.consumer_rewrite import states
from barnabas.designs.consumer_rewrite.peers.answers import Body, RequestId
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
"""Bytes of a JoinGroup's topics in the group's entry, which has those of all members."""


@dataclass(frozen=True)
class Join:
    """A JoinGroup that waits for its response."""

    request_id: RequestId
    consumer: Consumer
    """The consumer; its id is empty if the request had none."""

    def identified(self, group: str, new_id: Callable[[], str]) -> Join:
        """Return the JoinGroup with a new consumer id, if it had none."""
        if self.consumer.consumer_id:
            return self
        consumer_id = f"{group[:NAMED]}-{new_id()}"
        return replace(self, consumer=replace(self.consumer, consumer_id=consumer_id))


def refused(
    body: Body, settings: BrokerSettings, known: bool, others: Sequence[Consumer]
) -> str | None:
    """Return the error of a refused JoinGroup; None: it is accepted.

    known: whether the group has assigned its consumer id; others: the group's other consumers.
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
    if any(other.strategy != strategy for other in others):
        return states.INCONSISTENT_STRATEGY
    return None


def subscribed(consumers: Iterable[Consumer], topics: Mapping[str, int]) -> dict[str, int]:
    """Return the existing topics that a consumer subscribes to, with their numbers of partitions."""
    requested = {topic for consumer in consumers for topic in consumer.topics}
    return {topic: topics[topic] for topic in sorted(requested) if topic in topics}


def decided(
    before: GroupEntry,
    consumers: Sequence[Consumer],
    topics: Mapping[str, int],
    strategies: Mapping[str, Strategy],
) -> GroupEntry:
    """Return the next generation with its assignment. All consumers have the same strategy.

    Raises BrokenPromise if the strategy returns no valid assignment, or one too large for an entry.
    """
    partitions = subscribed(consumers, topics)
    owned: dict[str, tuple[Partition, ...]] = {}
    if consumers:
        strategy = strategies[consumers[0].strategy]
        owned = assigned(
            strategy, {consumer.consumer_id: consumer.topics for consumer in consumers}, partitions
        )
    entry = GroupEntry(
        before.generation + 1,
        tuple(replace(consumer, owns=owned[consumer.consumer_id]) for consumer in consumers),
        partitions,
        before.offsets,
    )
    size = len(entry.encode())
    if consumers and size > ENTRY_LIMIT:
        raise BrokenPromise(f"an entry of {size} bytes; the most is {ENTRY_LIMIT}")
    return entry
