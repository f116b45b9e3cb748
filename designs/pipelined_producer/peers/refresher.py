"""Who leads what: when metadata are asked for, whom, and what an answer changes.

Metadata have a connection of their own (the document says nothing of it), so that neither an answer
waits behind those of Produce nor the other way round. v0 is asked, which all brokers have.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from barnabas.designs.dialogue import Dialogue, ProtocolError
from barnabas.designs.leaders import Address, Cluster, Place, cluster, metadata
from barnabas.designs.pipelined_producer.peers.actions import METADATA
from barnabas.designs.pipelined_producer.peers.event import UNDESIGNATED
from barnabas.designs.pipelined_producer.peers.link import Link, State
from barnabas.designs.pipelined_producer.peers.settings import Settings
from barnabas.specs.error_codes import ERROR_CODES
from barnabas.specs.keys import METADATA as METADATA_KEY

RETRIABLE: Final = frozenset(one.code for one in ERROR_CODES if one.retriable)
"""Errors that may be over when the same is asked again."""


class Refresher:
    """The producer's view of the cluster. Times in seconds. Raises ValueError without any address."""

    def __init__(self, bootstrap: Iterable[Address], settings: Settings) -> None:
        self._settings = settings
        self._bootstrap = tuple(bootstrap)
        if not self._bootstrap:
            raise ValueError("no address to ask for metadata")
        self._next = 0
        self._due = math.inf
        self.link = Link(METADATA, ("", 0), Dialogue(settings.client_id))
        self.view = Cluster({}, {}, {}, {})
        self.led: dict[int, list[Place]] = {}
        """Node id -> the partitions that it leads: the document's map of broker to partitions."""
        self.stale = False
        """An answer, or the end of a connection, said that the view is not right any more."""

    @property
    def busy(self) -> bool:
        """Whether a request is under way, or the connection for one."""
        return self.link.state == State.CONNECTING or bool(self.link.dialogue.waiting)

    @property
    def due(self) -> float:
        """When they are asked for even if nothing is wrong."""
        return self._due if self.view.partitions else math.inf

    def needed(self, places: Collection[Place], now: float) -> bool:
        """Whether to ask, given the places for which something waits."""
        if not places and not self.view.partitions:
            return False  # there is no topic to ask for
        return self.stale or now >= self.due or any(self._unknown(place) for place in places)

    def topics(self, places: Iterable[Place]) -> set[str]:
        """What to ask for: the topics that there are, and those for which something waits.

        One that is refused, or that nobody makes, is let go with the last message for it.
        """
        return {*self.view.partitions, *(topic for topic, _ in places)}

    def _unknown(self, place: Place) -> bool:
        topic, partition = place
        leaders = self.view.leaders
        if partition == UNDESIGNATED:
            count = self.view.partitions.get(topic, 0)
            return not any((topic, number) in leaders for number in range(count))
        return place not in leaders

    def next_address(self) -> Address:
        """Whom to ask: one after the other, those that were given first."""
        known = tuple(dict.fromkeys((*self._bootstrap, *self.view.brokers.values())))
        self._next += 1
        return known[(self._next - 1) % len(known)]

    def error(self, place: Place) -> int:
        """Why nothing can be sent to a place, as metadata say: the code; 0 if it can, or they don't."""
        topic, partition = place
        errors = self.view.errors
        if not self._unknown(place):
            return 0
        return errors.get(topic) or errors.get((topic, max(partition, 0)), 0)

    def ask(self, places: Iterable[Place], now: float) -> bytes:
        """The request, given the places for which something waits. Its note is `now`."""
        self.link.until = now + self._settings.answer_timeout_ms / 1e3
        body = metadata(sorted(self.topics(places)))
        return self.link.dialogue.ask(METADATA_KEY, 0, body, note=now)

    def adopt(self, body: Mapping[str, Any], now: float) -> dict[str, int]:
        """Take an answer; gives the topics that can't be, with their errors. Raises ProtocolError."""
        found = cluster(body)
        if min(found.brokers, default=0) < 0:  # such numbers are connections of our own
            raise ProtocolError(f"there is no broker {min(found.brokers)}")
        brokers = found.brokers or self.view.brokers  # 0.8 may know none until a topic exists
        self.view = found._replace(brokers=brokers)
        self.stale = False
        self.link.not_before = now + self._settings.retry_backoff_ms / 1e3
        self._due = now + self._settings.metadata_refresh_ms / 1e3
        led = defaultdict(list)
        for place, node in sorted(found.leaders.items()):
            led[node].append(place)
        self.led = dict(led)
        return {
            topic: error
            for topic, error in found.errors.items()
            if isinstance(topic, str) and error not in RETRIABLE
        }
