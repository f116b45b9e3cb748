"""`leaders`: records are asked of the leader, or of the replica that the leader has named.

What a client was told is told again here: leaders by Metadata (and since KIP-951 by the refusals of
Produce and Fetch), preferred read replicas by Fetch. A request that was wrong when it was sent shows
in two ways: the broker refuses it, over and over; or the client names the leader epoch that it has
heard of, and asks another broker than the leader of that epoch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from barnabas.captures.checks.finding import (
    MS,
    Check,
    Evidence,
    Finding,
    See,
    answered,
    client_key,
    duration,
    evidence,
)
from barnabas.captures.checks.partitions import (
    Partition,
    answered_partitions,
    by_follower,
    partitions,
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

Place = tuple[str, Any, int]


def leaders(settings: Leaders) -> See:
    """Produce and Fetch to a broker that neither leads nor is the preferred read replica."""
    clients: Memory[Place, _Told] = Memory()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        request, end = exchange.request if exchange.key in _KEYS else None, answered(exchange)
        if not request or not exchange.response or end is None:
            return
        client = client_key(exchange)
        if exchange.key == METADATA:
            for place, leader in _metadata(exchange, client, end, context):
                _tell(clients.setdefault(place, _Told()), leader)
            return
        broker = context.brokers.node(exchange)
        if broker is None or by_follower(request):
            return
        for one in answered_partitions(exchange, context):
            place = (client, one.topic, one.number)
            told = clients.get(place) or _Told()
            yield from _judged(exchange, broker, one, told, settings)
            if one.answer is not None:
                _learn(exchange, broker, one.answer, told, end)
            clients[place] = told

    return see


_KEYS: Final = (PRODUCE, FETCH, METADATA)


def _judged(
    exchange: Exchange, broker: int, one: Partition, told: _Told, settings: Leaders
) -> Iterator[Finding]:
    leader = told.leader
    if leader is None or leader.node in (broker, -1) or broker in told.preferred:
        told.refused.pop(exchange.connection, None)
        return
    late = exchange.ts - leader.since
    if late <= settings.grace_ms * MS:
        return
    said = f"told {duration(late)} before that broker {leader.node} is the leader"
    epoch = one.said.get("current_leader_epoch", -1)
    if epoch >= 0 and epoch == leader.epoch:
        finding = f"{one.place}: broker {broker} was sent {exchange.api} by a client that knew "
        finding += f"leader epoch {epoch}, {said}"
    elif one.answer and one.answer["error_code"] == NOT_LEADER_OR_FOLLOWER:
        times = told.refused.get(exchange.connection, 0) + 1
        if len(told.refused) == MOST and times == 1:
            told.refused.clear()
        told.refused[exchange.connection] = times
        if times != settings.times:
            return
        finding = f"{one.place}: broker {broker} rejected {times} requests of a client {said}"
    else:
        return
    yield Finding(
        "warning",
        finding,
        "Send the request to the leader that the latest Metadata names, or fetch from the "
        "preferred read replica (client.rack, KIP-392).",
        (leader.evidence, evidence(exchange)),
    )


def _learn(exchange: Exchange, broker: int, answer: dict[str, Any], told: _Told, end: int) -> None:
    preferred = answer.get("preferred_read_replica", -1)
    if preferred >= 0:
        if len(told.preferred) == MOST:
            told.preferred.clear()
        told.preferred.add(preferred)
    hint = answer.get("current_leader") or {}
    if answer["error_code"] and hint.get("leader_id", -1) >= 0:
        node, epoch = hint["leader_id"], hint["leader_epoch"]
        _tell(told, _Leader(node, epoch, end, evidence(exchange)))
    elif (
        exchange.key == PRODUCE
        and not answer["error_code"]
        and told.leader is not None
        and told.leader.node != broker
    ):
        told.leader = None  # only a leader takes records: what was said before is out of date


def _tell(told: _Told, leader: _Leader) -> None:
    before = told.leader
    if before is not None:
        if before.node == leader.node and before.epoch == leader.epoch:
            return  # known for longer
        if 0 <= leader.epoch < before.epoch:
            return  # from a broker that had not heard of it yet
    told.leader = leader
    told.preferred.clear()
    told.refused.clear()


def _metadata(
    exchange: Exchange, client: str, end: int, context: Context
) -> Iterator[tuple[Place, _Leader]]:
    mine = evidence(exchange)
    for one in partitions(exchange, "response", context):
        leader = _Leader(one.said["leader_id"], one.said.get("leader_epoch", -1), end, mine)
        for topic in (one.about.get("name"), one.about.get("topic_id")):
            if topic:
                yield (client, topic, one.number), leader


CHECK: Final = Check(
    "leaders", Leaders(), leaders, "requests to a broker that is neither the leader nor the "
                                   "preferred read replica",
    "Produce v0+ and Fetch v0+ of clients, to brokers whose id is known (in captures of other "
    "tools from the addresses in Metadata, if they hold one cluster); leader epochs in Metadata "
    "v7+ and Fetch v9+ (KIP-320), preferred read replicas in Fetch v11+ (KIP-392), leaders in "
    "error responses in Produce v10+ and Fetch v16+ (KIP-951)", "client",
    reads=("Produce", "Fetch", "Metadata"),
)  # fmt: skip
