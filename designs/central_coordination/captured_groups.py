"""Central coordination's messages, in terms of Kafka's classic groups.

A registration is a JoinGroup without an id, whose response tells the consumer to wait. A stop-fetcher is the
heartbeat that announces a rebalance; its response is the JoinGroup, with the consumer's position. A start-
fetcher is the response to that, with the assignment, and its own response is the SyncGroup. The protocol has
no generations: they are counted here, from the first captured start-fetcher. The members of a generation are
all consumers that have stopped before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from barnabas.captures.checks.group_messages import GroupMessage, unanswered
from barnabas.captures.kafka.context.memory import BYTES, MOST, Memory, Weighed, weight
from barnabas.captures.kafka.exchange import Exchange
from barnabas.designs.central_coordination.schemas import CENTRAL_COORDINATION
from barnabas.designs.exchange import DialectExchange
from barnabas.designs.limits import MEMBERS
from barnabas.specs.keys import HEARTBEAT, JOIN_GROUP, OFFSET_COMMIT, SYNC_GROUP

DIGITS: Final = 10
"""Digits of a partition's number."""


@dataclass(slots=True)
class _Consumer:
    """A registered consumer on one connection."""

    group: str
    id: str
    session_ms: int
    generation: int = -1
    stopped: int | None = None
    """The time of its last response to stop-fetcher."""

    @property
    def weight(self) -> int:
        """Return the bytes of the group's and the consumer's names."""
        return weight((self.group, self.id))


@dataclass(slots=True)
class _Group:
    generation: int = 0
    stop_requested: int | None = None
    """The time of the last stop-fetcher since the last start."""
    stopped: Weighed[str] | None = field(default_factory=Weighed)
    """Consumers that have stopped since then; None: too many."""

    @property
    def weight(self) -> int:
        """Return about how many bytes the names of stopped consumers take."""
        return 0 if self.stopped is None else self.stopped.weight


class CentralGroups:
    """Reads the group messages of a capture, in the order in which exchanges end."""

    def __init__(self, bytes_: int = BYTES) -> None:
        self._consumers: Memory[int, _Consumer] = Memory(MOST, bytes_)
        self._groups: Memory[str, _Group] = Memory(MOST, bytes_)

    @property
    def forgotten(self) -> int:
        """Return how many consumers and groups were dropped because there were too many."""
        return self._consumers.forgotten + self._groups.forgotten

    def of(self, exchange: Exchange) -> Iterator[GroupMessage]:
        """Yield the group messages of an exchange; none if the registration was not captured."""
        message = DialectExchange.of_dialect(CENTRAL_COORDINATION, exchange)
        consumer = None if message is None else self._consumer_of(message)
        if message is None or consumer is None:
            return
        group = self._groups.get(consumer.group) or _Group()
        if message.api == "StopFetcher":
            yield from _stop_messages(exchange, message, consumer, group)
        elif message.api == "StartFetcher" and not message.error:
            yield from _start_messages(exchange, message, consumer, group)
        elif message.end is None or message.error:
            yield unanswered(exchange, consumer.group, consumer.id, consumer.generation)
        elif message.api == "RegisterConsumer":
            yield _group_message(
                exchange, consumer, JOIN_GROUP, message.end, error="MEMBER_ID_REQUIRED"
            )
        else:
            yield _group_message(exchange, consumer, HEARTBEAT, message.end)
        self._groups[consumer.group] = group

    def _consumer_of(self, message: DialectExchange) -> _Consumer | None:
        if message.api != "RegisterConsumer":
            return self._consumers.get(message.connection)
        request = message.request
        consumer = _Consumer(
            request["group_id"], request["consumer_id"], request["session_timeout_ms"]
        )
        self._consumers[message.connection] = (
            consumer  # if it is refused, that is the connection's end
        )
        return consumer


def _stop_messages(
    exchange: Exchange, message: DialectExchange, consumer: _Consumer, group: _Group
) -> Iterator[GroupMessage]:
    if message.end is not None and not message.error:
        consumer.stopped = message.end
        group.stop_requested = max(group.stop_requested or 0, message.ts)
        if group.stopped is not None:
            group.stopped.append(consumer.id)
            if group.stopped.weight > MEMBERS:
                group.stopped = None
        rows = (message.response or {}).get("offset_info", ())
        yield _group_message(
            exchange, consumer, OFFSET_COMMIT, message.end, partitions=_partitions(rows)
        )
    yield _group_message(exchange, consumer, HEARTBEAT, message.ts, error="REBALANCE_IN_PROGRESS")


def _start_messages(
    exchange: Exchange, message: DialectExchange, consumer: _Consumer, group: _Group
) -> Iterator[GroupMessage]:
    members: list[str] = []
    # a start before the stop-fetchers belongs to the preceding rebalance
    if not group.generation or (
        group.stop_requested is not None and message.ts >= group.stop_requested
    ):
        group.generation += 1
        members = list(group.stopped or ())
        group.stop_requested, group.stopped = None, Weighed()
    consumer.generation = group.generation
    rows = _partitions(message.request["offset_info"])
    joined = _group_message(
        exchange, consumer, JOIN_GROUP, message.ts, members=members, partitions=rows
    )
    yield joined._replace(ts=consumer.stopped or message.ts)
    known = tuple(row for row in rows if row[2] >= 0)
    yield _group_message(exchange, consumer, OFFSET_COMMIT, message.ts, partitions=known)
    if message.end is not None:
        yield _group_message(exchange, consumer, SYNC_GROUP, message.end)


def _group_message(
    exchange: Exchange,
    consumer: _Consumer,
    key: int,
    end: int,
    *,
    error: str = "",
    members: Iterable[str] = (),
    partitions: tuple[tuple[str, int | str, int], ...] = (),
) -> GroupMessage:
    request = {
        "member_id": consumer.id,
        "generation_id": consumer.generation,
        "session_timeout_ms": consumer.session_ms,
    }
    response = {
        "member_id": consumer.id,
        "generation_id": consumer.generation,
        "leader": "",
        "members": [{"member_id": member} for member in members],
    }
    common = exchange, consumer.group, request, response, end, key, error, exchange.ts
    return GroupMessage(*common, CENTRAL_COORDINATION.name, partitions)


def _partitions(rows: Iterable[dict[str, Any]]) -> tuple[tuple[str, int | str, int], ...]:
    return tuple((row["topic"], _number(row["partition"]), row["offset"]) for row in rows)


def _number(name: str) -> int | str:
    """Return a partition's number, which is its name here; 0.7 had names such as 0-1."""
    plain = name.isascii() and name.isdecimal() and len(name) <= DIGITS
    return int(name) if plain else name
