"""Check `leaders`: clients send requests to the leader, or fetch from the replica that the leader prefers.

The check tracks what each client knows: leaders from Metadata (since KIP-951 also from errors of Produce and
Fetch), and preferred read replicas from Fetch. A request to the wrong broker shows in two ways: the broker
rejects it repeatedly; or the client sends the leader epoch that it knows, but to another broker than the
leader of that epoch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from barnabas.captures.checks.facts import PLACES, RESPONDED, PartitionFacts
from barnabas.captures.checks.finding import (
    MS,
    Check,
    Evidence,
    Finding,
    See,
    client_key,
    duration,
    evidence,
)
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.memory import ELEMENT, Memory
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.keys import FETCH, METADATA, PRODUCE

NOT_LEADER_OR_FOLLOWER: Final = 6


@dataclass(frozen=True, slots=True)
class Leaders:
    """The thresholds for requests to the wrong broker."""

    grace_ms: float = 1000.0
    """Time since the client learned of the leader."""
    times: int = 3
    """Rejections in a row on one connection."""


@dataclass(slots=True)
class _Leader:
    node: int
    epoch: int
    since: int
    evidence: Evidence


@dataclass(slots=True)
class _KnownPartition:
    """The leader and preferred replicas of a partition that one client knows."""

    leader: _Leader | None = None
    preferred: set[int] = field(default_factory=set)
    refused: dict[int, int] = field(default_factory=dict)
    """Rejections in a row, by connection."""

    @property
    def weight(self) -> int:
        """Return its approximate size in bytes."""
        return ELEMENT * (len(self.preferred) + len(self.refused))


MOST: Final = 1000
"""Preferred replicas of a partition, and connections with rejections, that are stored for a client."""


def leaders(settings: Leaders) -> See:
    """Find Produce and Fetch requests to a broker that is neither leader nor preferred read replica."""
    clients: Memory[tuple[str, str, int], _KnownPartition] = Memory()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        end = exchange.answered
        if exchange.key not in _KEYS or end is None or not RESPONDED.of(exchange):
            return
        client, broker = client_key(exchange), context.brokers.node(exchange)
        for partition in PLACES.of(exchange, context) or ():
            key = client, partition.topic, partition.partition
            if exchange.key == METADATA:
                _update(clients.setdefault(key, _KnownPartition()), partition, end, exchange)
            elif broker is not None and partition.asked:
                known = clients.get(key) or _KnownPartition()
                yield from _check_request(exchange, broker, partition, known, settings)
                if partition.error is not None:
                    _learn(exchange, broker, partition, known, end)
                clients[key] = known

    return see


_KEYS: Final = (PRODUCE, FETCH, METADATA)


def _check_request(
    exchange: Exchange,
    broker: int,
    partition: PartitionFacts,
    known: _KnownPartition,
    settings: Leaders,
) -> Iterator[Finding]:
    leader = known.leader
    if leader is None or leader.node in (broker, -1) or broker in known.preferred:
        known.refused.pop(exchange.connection, None)
        return
    late = exchange.ts - leader.since
    if late <= settings.grace_ms * MS:
        return
    knowledge = f"told {duration(late)} before that broker {leader.node} is the leader"
    epoch = partition.known_epoch
    if epoch is not None and 0 <= epoch == leader.epoch:
        finding = (
            f"{partition.text}: broker {broker} was sent {exchange.api} by a client that knew "
        )
        finding += f"leader epoch {epoch}, {knowledge}"
    elif partition.error == NOT_LEADER_OR_FOLLOWER:
        times = known.refused.get(exchange.connection, 0) + 1
        if len(known.refused) == MOST and times == 1:
            known.refused.clear()
        known.refused[exchange.connection] = times
        if times != settings.times:
            return
        finding = (
            f"{partition.text}: broker {broker} rejected {times} requests of a client {knowledge}"
        )
    else:
        return
    yield Finding(
        "warning",
        finding,
        "Send the request to the leader that the latest Metadata names, or fetch from the "
        "preferred read replica (client.rack, KIP-392).",
        (leader.evidence, evidence(exchange)),
        partition.topic,
    )


def _learn(
    exchange: Exchange, broker: int, partition: PartitionFacts, known: _KnownPartition, end: int
) -> None:
    if partition.preferred is not None and partition.preferred >= 0:
        if len(known.preferred) == MOST:
            known.preferred.clear()
        known.preferred.add(partition.preferred)
    if partition.leader is not None:
        _update(known, partition, end, exchange)
    elif (
        exchange.key == PRODUCE
        and not partition.error
        and known.leader is not None
        and known.leader.node != broker
    ):
        known.leader = None  # only a leader accepts records: the known leader is outdated


def _update(
    known: _KnownPartition, partition: PartitionFacts, end: int, exchange: Exchange
) -> None:
    node, epoch = (
        -1 if value is None else value for value in (partition.leader, partition.leader_epoch)
    )
    before = known.leader
    if before is not None:
        if before.node == node and before.epoch == epoch:
            return  # known already
        if 0 <= epoch < before.epoch:
            return  # from a broker with older metadata
    known.leader = _Leader(node, epoch, end, evidence(exchange))
    known.preferred.clear()
    known.refused.clear()


CHECK: Final = Check(
    "leaders", Leaders(), leaders, "requests to a broker that is neither the leader nor the "
                                   "preferred read replica",
    "Produce v0+ and Fetch v0+ of clients, to brokers whose id is known (in captures of other "
    "tools from the addresses in Metadata, if they hold one cluster); leader epochs in Metadata "
    "v7+ and Fetch v9+ (KIP-320), preferred read replicas in Fetch v11+ (KIP-392), leaders in "
    "error responses in Produce v10+ and Fetch v16+ (KIP-951)", "partition",
)  # fmt: skip
