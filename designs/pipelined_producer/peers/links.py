"""Connections of the producer: one for metadata and one to each broker, and what each may be sent now."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from barnabas.designs.dialogue import Dialogue, ProtocolError
from barnabas.designs.leaders import Address, Place
from barnabas.designs.pipelined_producer.peers.queues import Batches
from barnabas.designs.pipelined_producer.peers.settings import NEWEST_PRODUCE, Settings
from barnabas.specs.keys import PRODUCE

METADATA: Final = -1
"""The node of the connection for metadata: a response there never waits for a Produce response."""


class State(StrEnum):
    """down -> connecting -> (asking, for a broker's versions) -> ready; from anywhere to down."""

    DOWN = "down"
    CONNECTING = "connecting"
    ASKING = "asking"
    READY = "ready"


@dataclass(slots=True, eq=False)
class Sent:
    """A Produce request in flight, or with acks=0 one that is not completely written."""

    batches: Batches
    until: float
    """When its response is late, in seconds."""


@dataclass(slots=True)
class Link:
    """A connection to a broker: its state, its requests in flight, and the unwritten rest of one."""

    node: int
    dialogue: Dialogue
    address: Address = ("", 0)
    state: State = State.DOWN
    version: int = 0
    """The version of Produce, when the link is ready."""
    old: bool = False
    """The broker did not answer ApiVersions: 0.8 closes the connection, 0.9 stays silent."""
    heard: bool = False
    """Whether a response came since the link was connected."""
    not_before: float = 0.0
    """When the link may connect again, in seconds."""
    until: float = math.inf
    """When connecting, or a response other than Produce's, is late."""
    outgoing: memoryview = field(default_factory=lambda: memoryview(b""))
    """The incomplete request: bytes that the socket has not taken yet."""
    writing: Sent | None = None
    """The request that these bytes belong to, if it has no response."""

    @property
    def up(self) -> bool:
        """Whether the link can send bytes."""
        return self.state in (State.ASKING, State.READY)

    @property
    def deadline(self) -> float:
        """The time at which connecting, or the oldest response, is late, in seconds."""
        waiting = self.in_flight
        return min(self.until, waiting[0].until) if waiting else self.until

    @property
    def in_flight(self) -> list[Sent]:
        """The Produce requests that wait for their responses, the oldest first."""
        return [request.note for request in self.dialogue.waiting if request.key == PRODUCE]

    @property
    def flying(self) -> list[Sent]:
        """The Produce requests in flight, and the one without a response that is being written."""
        return [*self.in_flight, *([self.writing] if self.writing else ())]

    def offered(self, apis: Iterable[Mapping[str, int]]) -> None:
        """Choose the newest Produce that both sides speak. Raises ProtocolError if there is none."""
        for api in apis:
            if api["api_key"] == PRODUCE and api["min_version"] <= NEWEST_PRODUCE:
                self.version = max(0, min(NEWEST_PRODUCE, api["max_version"]))
                self.state = State.READY
                return
        raise ProtocolError("the broker offers no Produce that is known here")

    def down(self, client_id: str, not_before: float) -> list[Sent]:
        """Reset a link that is closed; return what was in flight, the oldest first."""
        lost = self.flying
        if self.state == State.ASKING:
            self.old, not_before = True, 0.0  # at once, and without asking
        elif self.old and not self.heard:
            self.old = False  # it may be another one by now: ask again
        self.heard, self.state = False, State.DOWN
        self.not_before, self.until = not_before, math.inf
        self.dialogue = Dialogue(client_id)
        self.outgoing, self.writing = memoryview(b""), None
        return lost


class Links:
    """The connections by node id."""

    def __init__(self, settings: Settings) -> None:
        self.metadata = Link(METADATA, Dialogue(settings.client_id))
        self.brokers: dict[int, Link] = {}
        """Links in the order in which they are served: the last one served is last."""
        self.led: dict[int, list[Place]] = {}
        """The partitions that each node leads: the document's map of broker to partitions."""
        self._settings = settings

    def all(self) -> list[Link]:
        """Return all links, that for metadata first."""
        return [self.metadata, *self.brokers.values()]

    def to(self, node: int) -> Link:
        """Return the link to a node; make it if needed."""
        if node == METADATA:
            return self.metadata
        if node not in self.brokers:
            self.brokers[node] = Link(node, Dialogue(self._settings.client_id))
        return self.brokers[node]

    def has_room(self, link: Link) -> bool:
        """Return whether a broker may get another request."""
        if link.state != State.READY or link.node == METADATA or link.outgoing:
            return False
        total = self._settings.in_flight_total
        if (
            total is not None
            and sum(len(each.in_flight) for each in self.brokers.values()) >= total
        ):
            return False
        return len(link.in_flight) < self._settings.in_flight

    def served(self, link: Link, *, but: Collection[Place] = ()) -> list[Place]:
        """Return the partitions of which a broker may get something, except some.

        To keep order, leave out those with something in flight to another broker, their last leader.
        """
        others = (other for other in self.brokers.values() if other is not link)
        shut = {place for other in others for sent in other.flying for place in sent.batches}
        led = self.led.get(link.node, ())
        return [place for place in led if place not in shut and place not in but]

    def served_now(self, link: Link, places: Collection[Place]) -> None:
        """Put a broker, and its partitions that were served, behind the others."""
        self.brokers[link.node] = self.brokers.pop(link.node)
        self.led[link.node].sort(key=places.__contains__)
