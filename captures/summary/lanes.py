"""Show the requests of each group member over time, in one lane: joins, heartbeats, commits, leaves."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from barnabas.captures.checks.dialect_groups import DialectGroups
from barnabas.captures.checks.facts import GROUP_APIS, GROUP_TYPES
from barnabas.captures.checks.rebalance import REASON
from barnabas.captures.kafka.context.memory import BYTES, MOST, Memory, weight
from barnabas.captures.kafka.dialect_conversations import error_of
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.wording import shorten
from barnabas.specs.dialects.keys import STEP, of_key
from barnabas.specs.keys import HEARTBEAT, LEAVE_GROUP

EVENTS: Final = 1000
"""Events of a lane that are retained, the latest ones; a run of heartbeats is one event."""

EVENT: Final = 256
"""Approximate bytes of an event."""


@dataclass(slots=True)
class Event:
    """A request of a member, or a run of heartbeats with the same content."""

    api: str
    start: int
    """When the first request arrived, in ns since the epoch."""
    end: int | None
    """When the last response left to the client; None: no response."""
    generation: int
    """The generation, or the member epoch of the response; negative: it leaves, or is in no generation."""
    error: str | None
    """Empty: none; None: no response, or an unreadable one."""
    connection: int
    correlation_id: int
    """The correlation id of the first request."""
    count: int = 1
    run: bool = False
    """Whether it may be part of a run: a heartbeat without news."""
    color: str = ""
    """The Kafka API whose colour the event has; empty: its own."""

    def goes_on(self, following: Event) -> bool:
        """Return whether the following event belongs to the same run."""
        same = (self.api, self.generation, self.error, self.connection) == (
            *(following.api, following.generation, following.error, following.connection),
        )
        return same and self.run and following.run

    def row(self) -> dict[str, Any]:
        """Return the event in JSON form, with times as text."""
        return {
            "api": self.api,
            "start": str(self.start),
            "end": None if self.end is None else str(self.end),
            "generation": self.generation,
            "error": self.error,
            "connection": self.connection,
            "correlation_id": self.correlation_id,
            "count": self.count,
            "color": self.color,
        }


@dataclass(slots=True)
class Lane:
    """The events of one group member."""

    group: str
    member: str
    """The member id; empty for a client that commits without being a member."""
    client: str
    instance: str | None = None
    events: deque[Event] = field(default_factory=deque)

    @property
    def weight(self) -> int:
        """Return its approximate size in bytes."""
        return weight((self.client, self.instance)) + EVENT * len(self.events)

    def row(self) -> dict[str, Any]:
        """Return the lane in JSON form."""
        return {
            "group": self.group,
            "member": self.member,
            "client": self.client,
            "instance": self.instance,
            "events": [event.row() for event in self.events],
        }


class _GroupRequest(NamedTuple):
    """The group fields of an exchange, in the terms of Kafka's groups."""

    key: int
    group: str
    request: dict[str, Any]
    response: dict[str, Any]
    error: str | None
    """The error of the exchange itself."""


class Lanes:
    """The lanes of all members: at most `most` lanes of `bytes_` bytes, with up to `events` each.

    >>> lanes = Lanes()
    >>> lanes.rows(), lanes.fell_out
    ([], 0)
    """

    def __init__(self, most: int = MOST, bytes_: int = BYTES, events: int = EVENTS) -> None:
        self._dialects = DialectGroups(bytes_)
        self._lanes: Memory[tuple[str, str], Lane] = Memory(most, bytes_)
        self._events = events
        self.fell_out = 0
        """Events that were dropped from full lanes."""

    @property
    def forgotten(self) -> int:
        """Return the number of dropped lanes, and of dropped groups of dialects."""
        return self._lanes.forgotten + self._dialects.forgotten

    def add(self, exchange: Exchange) -> None:
        """Add an exchange, in the order in which exchanges end."""
        message = self._group_request(exchange)
        if message is None:
            return
        event = _event(exchange, message)
        for member, instance in _members(message):
            client = shorten(exchange.client, REASON)
            key = (message.group, member or client)
            lane = self._lanes.get(key) or Lane(key[0], member, client, instance)
            if lane.events and lane.events[-1].goes_on(event):
                last = lane.events[-1]
                last.end, last.count = event.end, last.count + 1
            else:
                lane.events.append(replace(event))
                if len(lane.events) > self._events:
                    lane.events.popleft()
                    self.fell_out += 1
            self._lanes[key] = lane

    def _group_request(self, exchange: Exchange) -> _GroupRequest | None:
        """Return the group fields of an exchange, answered or not; of a dialect the first message."""
        messages = list(self._dialects.of(exchange))
        if messages:
            message = messages[0]
            return _GroupRequest(
                message.key, message.group, message.request, message.response, error_of(exchange)
            )
        request = exchange.request if exchange.key < STEP and exchange.api in GROUP_APIS else None
        if not request:
            return None
        group, response = request["group_id"], exchange.response or {}
        return _GroupRequest(exchange.key, group, request, response, exchange.error)

    def rows(self) -> list[dict[str, Any]]:
        """Return lanes by group and beginning."""
        lanes = sorted(self._lanes.values(), key=lambda lane: (lane.group, lane.events[0].start))
        return [lane.row() for lane in lanes]


def _event(exchange: Exchange, message: _GroupRequest) -> Event:
    key, _, request, response, error = message
    names = ("generation_id", "member_epoch", "generation_id_or_member_epoch")
    request_generation = next((request[name] for name in names if name in request), -1)
    response_generations = () if error else (response.get(name) for name in names[:2])
    generation = next(
        (value for value in response_generations if value is not None),
        request_generation,
    )
    run = key == HEARTBEAT or (
        key in GROUP_TYPES
        and request_generation > 0
        and response.get("assignment") is None
        and request.get("topic_partitions") is None
    )
    request_id = (exchange.connection, exchange.correlation_id)
    end = exchange.answered
    color = ""
    if exchange.key >= STEP:
        color = of_key(exchange.key)[0].lane_colors.get(exchange.api, "")
    return Event(
        exchange.api, exchange.ts, end, generation, error, *request_id, run=run, color=color
    )


def _members(message: _GroupRequest) -> Iterator[tuple[str, str | None]]:
    """Yield the members of an exchange with their instance ids: a LeaveGroup may have several."""
    several = message.request.get("members") if message.key == LEAVE_GROUP else None
    for fields in several or (message.request,):
        member = message.response.get("member_id") or fields.get("member_id") or ""
        yield member, fields.get("group_instance_id", fields.get("instance_id"))
