"""What a coordinator decides of those that join: who may, and who owns what in the next generation."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from barnabas.peers.consumer_rewrite.answers import Body
from barnabas.peers.consumer_rewrite.record import Consumer, Record
from barnabas.peers.consumer_rewrite.settings import BrokerSettings
from barnabas.peers.consumer_rewrite.strategies import Partition, Strategy, assigned
from barnabas.specs.drafts.rewrite_states import (
    INCONSISTENT_STRATEGY,
    TIMEOUT_TOO_HIGH,
    UNKNOWN,
    UNKNOWN_CONSUMER,
    UNKNOWN_STRATEGY,
)


def refused(
    body: Body, settings: BrokerSettings, known: Collection[str], others: Sequence[Consumer]
) -> str | None:
    """Why a JoinGroup is refused, None: it is accepted.

    known: ids that the group has given out; others: who is in the group beside who asks.
    """
    timeout, strategy = body["session_timeout"], body["partition_assignment_strategy"]
    if timeout > settings.max_session_timeout_ms:
        return TIMEOUT_TOO_HIGH
    if timeout < 1:
        return UNKNOWN
    if strategy not in settings.strategies:
        return UNKNOWN_STRATEGY
    if body["consumer_id"] and body["consumer_id"] not in known:
        return UNKNOWN_CONSUMER
    if any(one.strategy != strategy for one in others):
        return INCONSISTENT_STRATEGY
    return None


def decided(
    before: Record,
    consumers: Sequence[Consumer],
    topics: Mapping[str, int],
    strategies: Mapping[str, Strategy],
) -> Record:
    """The next generation: who is in it, and what each owns. All have the same strategy.

    Raises BrokenPromise if that one gives no assignment.
    """
    wanted = {topic for one in consumers for topic in one.topics if topic in topics}
    partitions = {topic: topics[topic] for topic in sorted(wanted)}
    owned: dict[str, tuple[Partition, ...]] = {}
    if consumers:
        strategy = strategies[consumers[0].strategy]
        owned = assigned(strategy, {one.consumer_id: one.topics for one in consumers}, partitions)
    return Record(
        before.generation + 1,
        tuple(replace(one, owns=owned[one.consumer_id]) for one in consumers),
        partitions,
        before.offsets,
    )
