"""What each member of a group did over time, a lane a member: joined, synced, beat, committed, left."""

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
"""Events of a lane that are kept, the last ones; a run of heartbeats is one."""

EVENT: Final = 256
"""Bytes that an event takes, nearly."""


@dataclass(slots=True)
class Event:
    """What a member asked, or a run of heartbeats that all said and heard the same."""

    api: str
    start: int
    """When the first request came, in ns since the epoch."""
    end: int | None
    """When the last response had come; None: there was none."""
    generation: int
    """Or the member's epoch as the answer has it; negative: it leaves, or is in none."""
    error: str | None
    """Empty: none; None: no response, or one that can't be read."""
    connection: int
    correlation_id: int
    """Of the first one."""
    count: int = 1
    run: bool = False
    """Whether it may go on: a heartbeat that brought nothing new."""
    color: str = ""
    """The API of Kafka whose colour the event has; empty: its own."""

    def goes_on(self, following: Event) -> bool:
        """Whether that one is of the same run."""
        same = (self.api, self.generation, self.error, self.connection) == (
            *(following.api, following.generation, following.error, following.connection),
        )
        return same and self.run and following.run

    def row(self) -> dict[str, Any]:
        """In JSON form, times as text."""
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
    """A member of a group."""

    group: str
    member: str
    """Its id; empty of one that commits without being a member."""
    client: str
    instance: str | None = None
    events: deque[Event] = field(default_factory=deque)

    @property
    def weight(self) -> int:
        """Bytes that it takes, nearly."""
        return weight((self.client, self.instance)) + EVENT * len(self.events)

    def row(self) -> dict[str, Any]:
        """In JSON form."""
        return {
            "group": self.group,
            "member": self.member,
            "client": self.client,
            "instance": self.instance,
            "events": [event.row() for event in self.events],
        }


class _Said(NamedTuple):
    """What an exchange says of a group, in the words of Kafka's own."""

    key: int
    group: str
    request: dict[str, Any]
    response: dict[str, Any]
    error: str | None
    """As it stands in the exchange."""


class Lanes:
    """Lanes of all members: at most `most` of `bytes_`, and `events` in each.

    >>> lanes = Lanes()
    >>> lanes.rows(), lanes.fell_out
    ([], 0)
    """

    def __init__(self, most: int = MOST, bytes_: int = BYTES, events: int = EVENTS) -> None:
        self._dialects = DialectGroups(bytes_)
        self._lanes: Memory[tuple[str, str], Lane] = Memory(most, bytes_)
        self._events = events
        self.fell_out = 0
        """Events that made room for later ones of their lane."""

    @property
    def forgotten(self) -> int:
        """Lanes, and groups of dialects, that were forgotten because there were too many."""
        return self._lanes.forgotten + self._dialects.forgotten

    def add(self, exchange: Exchange) -> None:
        """Take an exchange, in the order in which they end."""
        said = self._said(exchange)
        if said is None:
            return
        event = _event(exchange, said)
        for member, instance in _members(said):
            client = shorten(exchange.client, REASON)
            key = (said.group, member or client)
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

    def _said(self, exchange: Exchange) -> _Said | None:
        """What it says, answered or not; of a dialect's the first of what it comes to."""
        found = list(self._dialects.of(exchange))
        if found:
            one = found[0]
            return _Said(one.key, one.group, one.request, one.response, error_of(exchange))
        request = exchange.request if exchange.key < STEP and exchange.api in GROUP_APIS else None
        if not request:
            return None
        group, response = request["group_id"], exchange.response or {}
        return _Said(exchange.key, group, request, response, exchange.error)

    def rows(self) -> list[dict[str, Any]]:
        """Lanes by group and when they began."""
        lanes = sorted(self._lanes.values(), key=lambda lane: (lane.group, lane.events[0].start))
        return [lane.row() for lane in lanes]


def _event(exchange: Exchange, said: _Said) -> Event:
    key, _, request, response, error = said
    names = ("generation_id", "member_epoch", "generation_id_or_member_epoch")
    asked = next((request[name] for name in names if name in request), -1)
    told = () if error else (response.get(name) for name in names[:2])
    generation = next((one for one in told if one is not None), asked)
    run = key == HEARTBEAT or (
        key in GROUP_TYPES
        and asked > 0
        and response.get("assignment") is None
        and request.get("topic_partitions") is None
    )
    place = (exchange.connection, exchange.correlation_id)
    end = exchange.answered
    color = ""
    if exchange.key >= STEP:
        color = of_key(exchange.key)[0].lane_colors.get(exchange.api, "")
    return Event(exchange.api, exchange.ts, end, generation, error, *place, run=run, color=color)


def _members(said: _Said) -> Iterator[tuple[str, str | None]]:
    """Whose lanes it stands in, with their instances: a LeaveGroup may be of several members."""
    several = said.request.get("members") if said.key == LEAVE_GROUP else None
    for one in several or (said.request,):
        member = said.response.get("member_id") or one.get("member_id") or ""
        yield member, one.get("group_instance_id", one.get("instance_id"))
