"""All connections: that for metadata and one to each broker, and what each may be sent now."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from barnabas.designs.dialogue import Dialogue
from barnabas.designs.leaders import Place
from barnabas.designs.pipelined_producer.peers.actions import METADATA
from barnabas.designs.pipelined_producer.peers.link import Link, State
from barnabas.designs.pipelined_producer.peers.refresher import Refresher
from barnabas.designs.pipelined_producer.peers.settings import Settings


class Links:
    """The connections by node id."""

    def __init__(self, settings: Settings, refresher: Refresher) -> None:
        self.brokers: dict[int, Link] = {}
        """In the order in which they are served: who was last comes last."""
        self._settings = settings
        self._refresher = refresher

    def all(self) -> list[Link]:
        """That for metadata first."""
        return [self._refresher.link, *self.brokers.values()]

    def get(self, node: int) -> Link | None:
        """The connection to a node, if it was ever wanted."""
        return self._refresher.link if node == METADATA else self.brokers.get(node)

    def to(self, node: int) -> Link:
        """The connection to a broker."""
        found = self.brokers.get(node)
        if found is None:
            found = Link(node, ("", 0), Dialogue(self._settings.client_id))
            self.brokers[node] = found
        return found

    def has_room(self, link: Link) -> bool:
        """Whether another request may be sent to a broker."""
        if link.state != State.READY or link.node == METADATA or link.outgoing:
            return False
        total = self._settings.in_flight_total
        if total is not None and sum(len(one.in_flight) for one in self.brokers.values()) >= total:
            return False
        return len(link.in_flight) < self._settings.in_flight

    def served(self, link: Link, *, but: Collection[Place] = ()) -> list[Place]:
        """The partitions of which a broker may get something, save some.

        Not those with something in flight to another broker, which led them until lately: order.
        """
        shut = {place for one in self.brokers.values() if one is not link for place in one.flying}
        led = self._refresher.led.get(link.node, ())
        return [place for place in led if place not in shut and place not in but]

    def served_now(self, link: Link, places: Collection[Place]) -> None:
        """A broker has got something for these: others come first next time, brokers and partitions."""
        self.brokers[link.node] = self.brokers.pop(link.node)
        self._refresher.led[link.node].sort(key=places.__contains__)

    def busy(self) -> Iterator[float]:
        """When something that is waited for is late, or may be tried again, in seconds."""
        for link in self.all():
            yield link.not_before
            yield link.until
            yield from (sent.until for sent in link.in_flight[:1])
