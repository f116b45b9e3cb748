"""`leaders`: records are asked of the leader, or of the replica that the leader has named.

What a client was told is told again here: leaders by Metadata (and since KIP-951 by the refusals of
Produce and Fetch), preferred read replicas by Fetch. A request that was wrong when it was sent shows
in two ways: the broker refuses it, over and over; or the client names the leader epoch that it has
heard of, and asks another broker than the leader of that epoch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from barnabas.captures.checks.facts import PLACES, RESPONDED, Place
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
    """When a client could know better."""

    grace_ms: float = 1000.0
    """Since it was told of the leader."""
    times: int = 3
    """Refusals in a row on one connection."""


@dataclass(slots=True)
class _Leader:
    node: int
    epoch: int
    since: int
    evidence: Evidence


@dataclass(slots=True)
class _Told:
    """What one client was told of a partition."""

    leader: _Leader | None = None
    preferred: set[int] = field(default_factory=set)
    refused: dict[int, int] = field(default_factory=dict)
    """By connection: refusals in a row."""

    @property
    def weight(self) -> int:
        """Bytes that it takes, nearly."""
        return ELEMENT * (len(self.preferred) + len(self.refused))


MOST: Final = 1000
"""Replicas that a client was told to prefer for a partition, and connections on which it was refused."""


def leaders(settings: Leaders) -> See:
    """Produce and Fetch to a broker that neither leads nor is the preferred read replica."""
    clients: Memory[tuple[str, str, int], _Told] = Memory()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        end = exchange.answered
        if exchange.key not in _KEYS or end is None or not RESPONDED.of(exchange):
            return
        client, broker = client_key(exchange), context.brokers.node(exchange)
        for one in PLACES.of(exchange, context) or ():
            place = client, one.topic, one.partition
            if exchange.key == METADATA:
                _tell(clients.setdefault(place, _Told()), one, end, exchange)
            elif broker is not None and one.asked:
                told = clients.get(place) or _Told()
                yield from _judged(exchange, broker, one, told, settings)
                if one.error is not None:
                    _learn(exchange, broker, one, told, end)
                clients[place] = told

    return see


_KEYS: Final = (PRODUCE, FETCH, METADATA)


def _judged(
    exchange: Exchange, broker: int, one: Place, told: _Told, settings: Leaders
) -> Iterator[Finding]:
    leader = told.leader
    if leader is None or leader.node in (broker, -1) or broker in told.preferred:
        told.refused.pop(exchange.connection, None)
        return
    late = exchange.ts - leader.since
    if late <= settings.grace_ms * MS:
        return
    said = f"told {duration(late)} before that broker {leader.node} is the leader"
    epoch = one.known_epoch
    if epoch is not None and 0 <= epoch == leader.epoch:
        finding = f"{one.text}: broker {broker} was sent {exchange.api} by a client that knew "
        finding += f"leader epoch {epoch}, {said}"
    elif one.error == NOT_LEADER_OR_FOLLOWER:
        times = told.refused.get(exchange.connection, 0) + 1
        if len(told.refused) == MOST and times == 1:
            told.refused.clear()
        told.refused[exchange.connection] = times
        if times != settings.times:
            return
        finding = f"{one.text}: broker {broker} rejected {times} requests of a client {said}"
    else:
        return
    yield Finding(
        "warning",
        finding,
        "Send the request to the leader that the latest Metadata names, or fetch from the "
        "preferred read replica (client.rack, KIP-392).",
        (leader.evidence, evidence(exchange)),
    )


def _learn(exchange: Exchange, broker: int, one: Place, told: _Told, end: int) -> None:
    if one.preferred is not None and one.preferred >= 0:
        if len(told.preferred) == MOST:
            told.preferred.clear()
        told.preferred.add(one.preferred)
    if one.leader is not None:
        _tell(told, one, end, exchange)
    elif (
        exchange.key == PRODUCE
        and not one.error
        and told.leader is not None
        and told.leader.node != broker
    ):
        told.leader = None  # only a leader takes records: what was said before is out of date


def _tell(told: _Told, one: Place, end: int, exchange: Exchange) -> None:
    node, epoch = (-1 if said is None else said for said in (one.leader, one.leader_epoch))
    before = told.leader
    if before is not None:
        if before.node == node and before.epoch == epoch:
            return  # known for longer
        if 0 <= epoch < before.epoch:
            return  # from a broker that had not heard of it yet
    told.leader = _Leader(node, epoch, end, evidence(exchange))
    told.preferred.clear()
    told.refused.clear()


CHECK: Final = Check(
    "leaders", Leaders(), leaders, "requests to a broker that is neither the leader nor the "
                                   "preferred read replica",
    "Produce v0+ and Fetch v0+ of clients, to brokers whose id is known (in captures of other "
    "tools from the addresses in Metadata, if they hold one cluster); leader epochs in Metadata "
    "v7+ and Fetch v9+ (KIP-320), preferred read replicas in Fetch v11+ (KIP-392), leaders in "
    "error responses in Produce v10+ and Fetch v16+ (KIP-951)", "partition",
)  # fmt: skip
