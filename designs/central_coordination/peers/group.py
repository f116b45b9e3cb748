"""A group at its coordinator: its consumers, the rebalance bit, and the steps of `CENTRAL_GROUP`."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from barnabas.captures.kafka.wording import group_name
from barnabas.designs.brokers.listener import Close, Log, Send
from barnabas.designs.central_coordination import states
from barnabas.designs.central_coordination.peers.actions import (
    BrokerAction,
    ReadOffsets,
    StoreOffsets,
)
from barnabas.designs.central_coordination.peers.interest import Interest, Partition, assign
from barnabas.designs.central_coordination.peers.offsets import farthest
from barnabas.designs.central_coordination.peers.wire import request


@dataclass
class SentRequest:
    """A request to a consumer, whose response is late at `due`."""

    api: str
    due: int
    late: bool = False


@dataclass
class Registered:
    """A registered consumer and the requests to it. Times are ms."""

    consumer_id: str
    connection: int
    interest: Interest
    auto_commit: bool
    session_timeout_ms: int
    ping_due: int
    sent_requests: deque[SentRequest] = field(default_factory=deque)
    lost_pings: int = 0

    def ask(self, api: str, now: int, body: dict[str, Any] | None = None) -> Send:
        """Send the consumer a request; the response is due within 2/3 of its session timeout."""
        self.sent_requests.append(SentRequest(api, now + self.session_timeout_ms * 2 // 3))
        return Send(self.connection, request(api, body))

    @property
    def pinged(self) -> bool:
        """Return whether pings are sent: not while another response is due.

        A ping would let a consumer whose responses are lost continue to fetch, for longer than the
        coordinator waits for it.
        """
        return all(request.api == "Ping" for request in self.sent_requests)

    def waits(self, api: str) -> bool:
        """Return whether a response to this API is due."""
        return any(request.api == api for request in self.sent_requests)


class Group:
    """A group. Methods that take `now` return actions."""

    def __init__(self, name: str, retries: int, readings: Iterator[int]) -> None:
        self.name = name
        self.state = states.QUIET
        self.consumers: dict[str, Registered] = {}
        self.rebalances = 0
        """The number of finished rebalances."""
        self._retries = retries
        self._left = retries
        self._began = 0
        """The time of the last stop-fetchers to all."""
        self._topics: Mapping[str, Sequence[str]] = {}
        self._about: tuple[object, ...] = ()
        """The consumers and partitions that the rebalance is about."""
        self._offsets: dict[Partition, int] = {}
        """Reported offsets that are not stored yet: their consumer may fail before all have reported."""
        self._readings = readings
        self._reading: ReadOffsets | None = None
        """The last requested reading: a restarted rebalance ignores earlier ones."""

    @property
    def rebalancing(self) -> bool:
        """Return the rebalance bit."""
        return self.state != states.QUIET

    @property
    def active(self) -> bool:
        """Return whether a thread works on the rebalance."""
        return self.state in (states.STOPPING, states.OFFSETS, states.STARTING)

    def partitions(self, topics: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
        """Return the topics that a consumer of the group is interested in."""
        return {
            topic: tuple(partitions)
            for topic, partitions in topics.items()
            if any(consumer.interest.of(topic) for consumer in self.consumers.values())
        }

    def changed(self, topics: Mapping[str, Sequence[str]]) -> bool:
        """Set the rebalance bit if there is a reason; return whether to put a request in the queue."""
        self._topics = topics
        if not self.rebalancing and (not self.partitions(topics) or self._about == self._now()):
            return False
        was_quiet = self.state == states.QUIET
        self._step(states.CHANGED)
        return was_quiet

    def registered(self, consumer: Registered, now: int) -> list[BrokerAction]:
        """Add a consumer. If the others are stopped, stop it, too: only the consumer knows its offsets."""
        self.consumers[consumer.consumer_id] = consumer
        if self.state not in (states.STOPPING, states.OFFSETS):
            return []
        self._step(states.NEWCOMER)
        return [consumer.ask("StopFetcher", now)]

    def failed(self, consumer_id: str, reason: str, now: int) -> list[BrokerAction]:
        """Remove a failed consumer, and restart a running rebalance without it.

        Consumers that fail at the same moment cost one retry, not one each.
        """
        consumer = self.consumers.pop(consumer_id)
        actions: list[BrokerAction] = [
            Log("INFO", f"{group_name(self.name)}: {consumer_id} failed: {reason}"),
            Close(consumer.connection, reason),
        ]
        if not self.active:
            return actions
        if not self.consumers:
            self._step(states.EMPTIED)
            return actions
        self._left -= self._began != now
        if self._left < 0:
            self._step(states.EXHAUSTED)
            self._about = self._now()  # as it is, it is not to be tried again
            text = f"{self.name}: no rebalance within {self._retries} retries; given up"
            return [*actions, Log("FATAL", text)]
        self._step(states.FAILED)
        return actions + self._stop_all(now)

    def taken(self, now: int) -> list[BrokerAction]:
        """Begin the rebalance that a thread has taken from its queue."""
        self._step(states.TAKEN)
        self._left = self._retries
        return self._stop_all(now)

    def stopped(self, offsets: Mapping[Partition, int]) -> list[BrokerAction]:
        """Take the offsets in a consumer's response to stop-fetcher."""
        self._offsets = farthest(self._offsets, offsets)
        if self.state != states.STOPPING or self._waits_for("StopFetcher"):
            return []
        self._step(states.ALL_STOPPED)
        actions: list[BrokerAction] = []
        if self._offsets:
            actions.append(StoreOffsets(self.name, self._offsets))
            self._offsets = {}
        self._reading = ReadOffsets(self.name, next(self._readings))
        return [*actions, self._reading]

    def offsets(
        self, request: ReadOffsets, offsets: Mapping[Partition, int], now: int
    ) -> list[BrokerAction]:
        """Send the new assignment, with the registry's offsets."""
        if self.state != states.OFFSETS or request != self._reading:
            return []
        self._step(states.OFFSETS_READ)
        self._about = self._now()
        consumers = [(name, consumer.interest) for name, consumer in self.consumers.items()]
        owned = assign(consumers, self.partitions(self._topics))
        actions: list[BrokerAction] = []
        for name, consumer in sorted(self.consumers.items()):
            rows = [
                {"topic": topic, "partition": number, "offset": offsets.get((topic, number), -1)}
                for topic, number in owned[name]
            ]
            actions.append(consumer.ask("StartFetcher", now, {"offset_info": rows}))
        return actions

    def started(self) -> list[BrokerAction]:
        """Note a consumer's response to start-fetcher."""
        if self.state != states.STARTING or self._waits_for("StartFetcher"):
            return []
        self._step(states.ALL_STARTED)
        self.rebalances += 1
        return []

    def _waits_for(self, api: str) -> bool:
        return any(consumer.waits(api) for consumer in self.consumers.values())

    def _now(self) -> tuple[object, ...]:
        connections = sorted(
            (name, consumer.connection) for name, consumer in self.consumers.items()
        )
        return (*connections, *sorted(self.partitions(self._topics).items()))

    def _stop_all(self, now: int) -> list[BrokerAction]:
        self._began = now
        return [consumer.ask("StopFetcher", now) for _, consumer in sorted(self.consumers.items())]

    def _step(self, event: str) -> None:
        self.state = states.CENTRAL_GROUP.advance(self.state, event)
