"""The producer's view of the cluster: when and from which broker to request metadata, and the results.

Metadata have a connection of their own (the document does not mention it), so that their responses and those
of Produce do not wait for each other. v0 is the version that all brokers have.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from barnabas.designs.dialogue import ProtocolError
from barnabas.designs.leaders import Address, Cluster, TopicPartition, by_leader, cluster, metadata
from barnabas.designs.pipelined_producer.peers.event import UNDESIGNATED
from barnabas.designs.pipelined_producer.peers.links import Links, State
from barnabas.designs.pipelined_producer.peers.settings import Settings
from barnabas.specs.error_codes import ERROR_CODES
from barnabas.specs.keys import METADATA

RETRIABLE: Final = frozenset(error.code for error in ERROR_CODES if error.retriable)
"""Errors that a repeated request may not meet again."""


class Refresher:
    """Metadata of the cluster. Times in seconds. Raises ValueError without any address."""

    def __init__(self, bootstrap: Iterable[Address], settings: Settings, links: Links) -> None:
        self._settings = settings
        self._bootstrap = tuple(bootstrap)
        if not self._bootstrap:
            raise ValueError("no address to ask for metadata")
        self._attempts = 0
        self.due = math.inf
        """The time of the next regular request."""
        self._links = links
        self.link = links.metadata
        self.view = Cluster({}, {}, {}, {})
        self.stale = False
        """Whether a response, or a lost connection, contradicted the view."""

    @property
    def busy(self) -> bool:
        """Return whether a request is in flight, or the connection for one is being opened."""
        return self.link.state == State.CONNECTING or bool(self.link.dialogue.waiting)

    def needed(self, places: Collection[TopicPartition], now: float) -> bool:
        """Return whether to ask, given the partitions with waiting events."""
        if self.busy or self.link.not_before > now or not (places or self.view.partitions):
            return False  # without partitions: there is no topic to request
        return (
            self.stale or now >= self.due or any(self._unknown(partition) for partition in places)
        )

    def _unknown(self, topic_partition: TopicPartition) -> bool:
        topic, partition = topic_partition
        count = self.view.partitions.get(topic, 0)
        numbers = range(count) if partition == UNDESIGNATED else (partition,)
        return not any((topic, number) in self.view.leaders for number in numbers)

    def next_address(self) -> Address:
        """Return the address to ask next, in turn, the bootstrap addresses first."""
        addresses = tuple(dict.fromkeys((*self._bootstrap, *self.view.brokers.values())))
        self._attempts += 1
        return addresses[(self._attempts - 1) % len(addresses)]

    def error(self, topic_partition: TopicPartition) -> int:
        """Return the metadata's error code that keeps a partition's events from being sent, or 0."""
        topic, partition = topic_partition
        errors = self.view.errors
        code = errors.get(topic) or errors.get((topic, max(partition, 0)), 0)
        return code if self._unknown(topic_partition) else 0

    def ask(self, places: Iterable[TopicPartition], now: float) -> bytes:
        """Encode a request for known topics and those with waiting events. Its note is `now`.

        A topic that is refused, or that no broker creates, is left out after the last message for it.
        """
        self.link.until = now + self._settings.answer_timeout_ms / 1e3
        topics = sorted({*self.view.partitions, *(topic for topic, _ in places)})
        return self.link.dialogue.ask(METADATA, 0, metadata(topics), note=now)

    def adopt(self, body: Mapping[str, Any], now: float) -> dict[str, int]:
        """Take a response; return errors of topics that can't be sent to. Raises ProtocolError."""
        view = cluster(body)
        if (
            min(view.brokers, default=0) < 0
        ):  # such numbers are reserved for the producer's connections
            raise ProtocolError(f"there is no broker {min(view.brokers)}")
        brokers = view.brokers or self.view.brokers  # 0.8 may know none until a topic exists
        self.view = view._replace(brokers=brokers)
        self.stale = False
        self.link.not_before = now + self._settings.retry_backoff_ms / 1e3
        refresh = self._settings.metadata_refresh_ms / 1e3
        self.due = now + refresh if view.partitions else math.inf
        self._links.led, _ = by_leader(sorted(view.leaders), view.leaders)
        return {
            topic: error
            for topic, error in view.errors.items()
            if isinstance(topic, str) and error not in RETRIABLE
        }
