"""Batches that were refused, or lost with their connection, until they are sent again.

Those of a partition are sent again in the order in which they failed, and nothing new of it before:
with one request in flight order is kept, with several what was in flight behind it stays in front.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import NamedTuple

from barnabas.designs.leaders import Place
from barnabas.designs.pipelined_producer.peers.event import Event
from barnabas.designs.pipelined_producer.peers.queues import Batches


class Retry(NamedTuple):
    """A batch that is sent again, not before `due` (seconds)."""

    place: Place
    events: list[Event]
    due: float


class Retries:
    """What is to be sent again."""

    def __init__(self) -> None:
        self._waiting: list[Retry] = []

    def add(self, place: Place, events: list[Event], due: float) -> None:
        """Keep a batch."""
        self._waiting.append(Retry(place, events, due))

    def put_back(self, batches: Batches) -> None:
        """What was taken and had no room is the first of its partition again, and due."""
        self._waiting[:0] = (Retry(place, events, -math.inf) for place, events in batches.items())

    def take(self, places: Collection[Place], now: float) -> Batches:
        """The first batch of each of these partitions, if it is due."""
        found: Batches = {}
        left: list[Retry] = []
        behind: set[Place] = set()
        for retry in self._waiting:
            if retry.place in places and retry.place not in behind and retry.due <= now:
                found[retry.place] = retry.events
            else:
                left.append(retry)
            behind.add(retry.place)
        self._waiting = left
        return found

    def ripe(self, now: float) -> set[Place]:
        """The partitions of which `take` would give something."""
        first: dict[Place, float] = {}
        for retry in self._waiting:
            first.setdefault(retry.place, retry.due)
        return {place for place, due in first.items() if due <= now}

    def held(self) -> set[Place]:
        """The partitions of which nothing new is sent."""
        return {retry.place for retry in self._waiting}

    def remove(self, wanted: Callable[[Event], bool]) -> list[Event]:
        """Take out all that are wanted."""
        found: list[Event] = []
        left: list[Retry] = []
        for retry in self._waiting:
            found += (event for event in retry.events if wanted(event))
            kept = [event for event in retry.events if not wanted(event)]
            if kept:
                left.append(retry._replace(events=kept))
        self._waiting = left
        return found

    def times(self, expiry: float) -> list[float]:
        """When something is due, and when something is too old, in seconds."""
        return [
            time
            for retry in self._waiting
            for time in (retry.due, min(event.enqueued for event in retry.events) + expiry)
        ]

    def __len__(self) -> int:
        return sum(len(retry.events) for retry in self._waiting)
