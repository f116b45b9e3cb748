"""Central coordination's messages, in the words of Kafka's classic groups.

A consumer registers as one joins without an id: it is told to wait for its turn. Stop-fetcher is the
heartbeat that says that the group rebalances; its answer is the JoinGroup, and tells where the consumer was;
start-fetcher answers that, with the assignment, and its own answer is the SyncGroup. There are no
generations: they are counted here, from the first start-fetcher that is seen. All that have stopped before
are its members.
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
"""Of a partition's number."""


@dataclass(slots=True)
class _Consumer:
    """Of one connection, as it registered."""

    group: str
    id: str
    session_ms: int
    generation: int = -1
    stopped: int | None = None
    """When it last said that it had stopped."""

    @property
    def weight(self) -> int:
        """Return the bytes of the group's and the consumer's names."""
        return weight((self.group, self.id))


@dataclass(slots=True)
class _Group:
    generation: int = 0
    asked: int | None = None
    """When one was last asked to stop, since others were started."""
    stopped: Weighed[str] | None = field(default_factory=Weighed)
    """Who has, since then; None: too many."""

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
        """Yield what an exchange says of a group; nothing if the registration was not captured."""
        seen = DialectExchange.of_dialect(CENTRAL_COORDINATION, exchange)
        one = None if seen is None else self._whose(seen)
        if seen is None or one is None:
            return
        group = self._groups.get(one.group) or _Group()
        if seen.api == "StopFetcher":
            yield from _stopped(exchange, seen, one, group)
        elif seen.api == "StartFetcher" and not seen.error:
            yield from _started(exchange, seen, one, group)
        elif seen.end is None or seen.error:
            yield unanswered(exchange, one.group, one.id, one.generation)
        elif seen.api == "RegisterConsumer":
            yield _said(exchange, one, JOIN_GROUP, seen.end, error="MEMBER_ID_REQUIRED")
        else:
            yield _said(exchange, one, HEARTBEAT, seen.end)
        self._groups[one.group] = group

    def _whose(self, seen: DialectExchange) -> _Consumer | None:
        if seen.api != "RegisterConsumer":
            return self._consumers.get(seen.connection)
        asked = seen.request
        one = _Consumer(asked["group_id"], asked["consumer_id"], asked["session_timeout_ms"])
        self._consumers[seen.connection] = one  # if it is refused, that is the connection's end
        return one


def _stopped(
    exchange: Exchange, seen: DialectExchange, one: _Consumer, group: _Group
) -> Iterator[GroupMessage]:
    if seen.end is not None and not seen.error:
        one.stopped = seen.end
        group.asked = max(group.asked or 0, seen.ts)
        if group.stopped is not None:
            group.stopped.append(one.id)
            if group.stopped.weight > MEMBERS:
                group.stopped = None
        rows = (seen.response or {}).get("offset_info", ())
        yield _said(exchange, one, OFFSET_COMMIT, seen.end, partitions=_partitions(rows))
    yield _said(exchange, one, HEARTBEAT, seen.ts, error="REBALANCE_IN_PROGRESS")


def _started(
    exchange: Exchange, seen: DialectExchange, one: _Consumer, group: _Group
) -> Iterator[GroupMessage]:
    members: list[str] = []
    # one that was started before the others were asked to stop is still of the rebalance before
    if not group.generation or (group.asked is not None and seen.ts >= group.asked):
        group.generation += 1
        members = list(group.stopped or ())
        group.asked, group.stopped = None, Weighed()
    one.generation = group.generation
    rows = _partitions(seen.request["offset_info"])
    joined = _said(exchange, one, JOIN_GROUP, seen.ts, members=members, partitions=rows)
    yield joined._replace(ts=one.stopped or seen.ts)
    known = tuple(row for row in rows if row[2] >= 0)
    yield _said(exchange, one, OFFSET_COMMIT, seen.ts, partitions=known)
    if seen.end is not None:
        yield _said(exchange, one, SYNC_GROUP, seen.end)


def _said(
    exchange: Exchange,
    one: _Consumer,
    key: int,
    end: int,
    *,
    error: str = "",
    members: Iterable[str] = (),
    partitions: tuple[tuple[str, int | str, int], ...] = (),
) -> GroupMessage:
    request = {
        "member_id": one.id,
        "generation_id": one.generation,
        "session_timeout_ms": one.session_ms,
    }
    response = {
        "member_id": one.id,
        "generation_id": one.generation,
        "leader": "",
        "members": [{"member_id": member} for member in members],
    }
    about = exchange, one.group, request, response, end, key, error, exchange.ts
    return GroupMessage(*about, CENTRAL_COORDINATION.name, partitions)


def _partitions(rows: Iterable[dict[str, Any]]) -> tuple[tuple[str, int | str, int], ...]:
    return tuple((row["topic"], _number(row["partition"]), row["offset"]) for row in rows)


def _number(name: str) -> int | str:
    """A partition's name, which here is its number; 0.7's are others: 0-1."""
    plain = name.isascii() and name.isdecimal() and len(name) <= DIGITS
    return int(name) if plain else name
