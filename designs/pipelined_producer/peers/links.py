"""Connections of the producer: one for metadata and one to each broker, with their limits."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from barnabas.designs.dialogue import Dialogue, ProtocolError
from barnabas.designs.leaders import Address, TopicPartition
from barnabas.designs.pipelined_producer.peers.queues import Batches
from barnabas.designs.pipelined_producer.peers.settings import NEWEST_PRODUCE, Settings
from barnabas.specs.keys import PRODUCE

METADATA: Final = -1
"""The node of the connection for metadata: a response there never waits for a Produce response."""


class State(StrEnum):
    """The state of a link.

    down -> connecting -> (asking, for a broker's versions) -> ready; from anywhere to down.
    """

    DOWN = "down"
    CONNECTING = "connecting"
    ASKING = "asking"
    READY = "ready"


@dataclass(slots=True, eq=False)
class SentRequest:
    """A Produce request in flight, or with acks=0 one that is not completely written."""

    batches: Batches
    until: float
    """The deadline of its response in seconds."""


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
    """The broker does not support ApiVersions: 0.8 closes the connection, 0.9 stays silent."""
    heard: bool = False
    """Whether a response has arrived since the link was connected."""
    not_before: float = 0.0
    """The earliest time of the next attempt to connect, in seconds."""
    until: float = math.inf
    """The deadline of connecting, or of a response other than Produce's."""
    outgoing: memoryview = field(default_factory=lambda: memoryview(b""))
    """The incomplete request: bytes that the socket has not taken yet."""
    writing: SentRequest | None = None
    """The request that these bytes belong to, if it has no response."""

    @property
    def up(self) -> bool:
        """Return whether the link can send bytes."""
        return self.state in (State.ASKING, State.READY)

    @property
    def deadline(self) -> float:
        """Return the deadline of connecting, or of the oldest response, in seconds."""
        waiting = self.in_flight
        return min(self.until, waiting[0].until) if waiting else self.until

    @property
    def in_flight(self) -> list[SentRequest]:
        """Return the Produce requests without a response, the oldest first."""
        return [request.note for request in self.dialogue.waiting if request.key == PRODUCE]

    @property
    def flying(self) -> list[SentRequest]:
        """Return the Produce requests in flight, and one without a response that is being written."""
        return [*self.in_flight, *([self.writing] if self.writing else ())]

    def offered(self, apis: Iterable[Mapping[str, int]]) -> None:
        """Choose the newest Produce that both sides speak. Raises ProtocolError if there is none."""
        for api in apis:
            if api["api_key"] == PRODUCE and api["min_version"] <= NEWEST_PRODUCE:
                self.version = max(0, min(NEWEST_PRODUCE, api["max_version"]))
                self.state = State.READY
                return
        raise ProtocolError("the broker offers no Produce that is known here")

    def down(self, client_id: str, not_before: float) -> list[SentRequest]:
        """Reset a closed link; return its requests in flight, the oldest first."""
        lost = self.flying
        if self.state == State.ASKING:
            self.old, not_before = True, 0.0  # at once, and without asking
        elif self.old and not self.heard:
            self.old = False  # the broker may have changed: ask again
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
        self.led: dict[int, list[TopicPartition]] = {}
        """The partitions that each node leads: the document's map of broker to partitions."""
        self._settings = settings

    def all(self) -> list[Link]:
        """Return all links, the one for metadata first."""
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

    def served(self, link: Link, *, but: Collection[TopicPartition] = ()) -> list[TopicPartition]:
        """Return the partitions that a broker may be sent, except some.

        To keep order, partitions with requests in flight to another broker, their last leader, are omitted.
        """
        others = (other for other in self.brokers.values() if other is not link)
        shut = {
            partition for other in others for sent in other.flying for partition in sent.batches
        }
        led = self.led.get(link.node, ())
        return [partition for partition in led if partition not in shut and partition not in but]

    def served_now(self, link: Link, places: Collection[TopicPartition]) -> None:
        """Move a broker, and its partitions that were served, to the end of the order."""
        self.brokers[link.node] = self.brokers.pop(link.node)
        self.led[link.node].sort(key=places.__contains__)
