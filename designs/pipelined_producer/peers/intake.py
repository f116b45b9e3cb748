"""What the client's thread does: give an event its partition and put it into its queue.

The send thread takes from the other end; one lock is between them, held for moments only. Nothing is
serialised under it, and metadata is never fetched here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from barnabas.designs.leaders import Place
from barnabas.designs.pipelined_producer.peers.event import UNDESIGNATED, Event, Outcome
from barnabas.designs.pipelined_producer.peers.partitioning import Partitioner, by_hash
from barnabas.designs.pipelined_producer.peers.queues import (
    Batches,
    OneQueue,
    PartitionQueues,
    Queues,
)
from barnabas.designs.pipelined_producer.peers.serializing import (
    BATCH,
    PLAIN,
    Serializers,
    known_size,
    record_size,
    too_large,
)
from barnabas.designs.pipelined_producer.peers.settings import Settings

LONGEST_TOPIC: Final = 249
"""Bytes of a topic's name (kafka.common.Topic has as many characters)."""


class QueueFull(Exception):
    """There is no room for an event: it was not taken."""


class TooLarge(ValueError):
    """An event fits into no request: it was not taken."""


class Intake:
    """The queues, and the numbers of partitions as far as they are known."""

    def __init__(
        self,
        settings: Settings,
        partitioner: Partitioner = by_hash,
        serializers: Serializers = PLAIN,
    ) -> None:
        made = PartitionQueues if settings.queueing == "partition" else OneQueue
        self._queues: Queues = made(settings.queue_messages, settings.batch_bytes - BATCH)
        self._settings = settings
        self._serializers = serializers
        self._partitioner = partitioner
        self._partitions: dict[str, int] = {}
        self._most = settings.outstanding
        self.outstanding = 0
        """Events that were taken and of which nothing was said yet."""
        self.changed = threading.Condition()
        """Its lock guards all this; who waits for room or for the end is woken."""

    def put(self, event: Event) -> None:
        """Take an event. Raises QueueFull, TooLarge, ValueError for what can't be, or as the partitioner.

        What becomes of key and value in the send thread is not known here if a serializer is given:
        then only the send thread finds out that it is too large, unless it is serialised already.
        """
        if not 0 < len(event.topic.encode()) <= LONGEST_TOPIC:
            raise ValueError(f"a topic's name has 1 to {LONGEST_TOPIC} bytes")
        if not UNDESIGNATED <= event.partition < 1 << 31:
            raise ValueError(f"partition {event.partition}: 0 or more, or {UNDESIGNATED} for any")
        if event.serialized is None:
            event.size = known_size(event.key, event.value, self._serializers)
        else:
            event.size = record_size(*event.serialized)
        if (problem := too_large(event.size, self._settings, event.topic)) is not None:
            raise TooLarge(problem)
        with self.changed:
            if self.outstanding >= self._most:
                raise QueueFull(f"{self._most} messages are in the producer's hands already")
            partitions = self._partitions.get(event.topic)
            if event.partition == UNDESIGNATED and event.key is not None and partitions:
                event.partition = self._partition(event.key, partitions)
            if not self._queues.put(event):
                raise QueueFull(f"the queue for {event.topic} is full")
            self.outstanding += 1

    def known(self, partitions: Mapping[str, int]) -> list[Outcome]:
        """Learn how many partitions topics have: what waits for that gets its own.

        Gives what became of those that the partitioner does not take.
        """
        failed: list[Outcome] = []
        with self.changed:
            for topic, count in partitions.items():
                if self._partitions.get(topic) != count:
                    self._partitions[topic] = count
                    failed += self._designate(topic, count)
        return failed

    def _designate(self, topic: str, count: int) -> list[Outcome]:
        partition: dict[Event, int] = {}
        failed: list[Outcome] = []

        def unfit(event: Event) -> bool:
            if event.place != (topic, UNDESIGNATED) or event.key is None:
                return False
            try:
                partition[event] = self._partition(event.key, count)
            except Exception as problem:  # noqa: BLE001 - whatever somebody's partitioner raises
                failed.append(Outcome(event, problem=f"no partition: {problem}"))
                return True
            return False

        self._queues.remove(unfit)
        self._queues.designate(topic, partition.__getitem__)
        return failed

    def _partition(self, key: Any, count: int) -> int:
        found = self._partitioner(key, count)
        if not 0 <= found < count:
            raise ValueError(f"the partitioner gives {found} of {count} partitions")
        return found

    def take(self, places: Collection[Place], limit: int, ripe: float) -> Batches:
        """Batches for these partitions, see `queues.Queues.take`."""
        with self.changed:
            return self._queues.take(places, limit, ripe)

    def put_back(self, batches: Batches) -> None:
        """What was taken and had no room is the first of its partition again."""
        with self.changed:
            self._queues.put_back(batches)

    def remove(self, wanted: Callable[[Event], bool]) -> list[Event]:
        """Take out all that are wanted."""
        with self.changed:
            return self._queues.remove(wanted)

    def ripe(self, limit: int, ripe: float) -> set[Place]:
        """The places of which `take` would give something; partition -1 for what has none."""
        with self.changed:
            return set(self._queues.ripe(limit, ripe))

    def waiting(self) -> list[Place]:
        """The places with something that waits; partition -1 for what has none."""
        with self.changed:
            return list(self._queues.waiting())

    def firsts(self) -> Collection[float]:
        """When the first event of each queue was enqueued; the earliest is the oldest of all."""
        with self.changed:
            return self._queues.firsts()

    def over(self, count: int) -> None:
        """So many events have been reported."""
        with self.changed:
            self.outstanding -= count
            self.changed.notify_all()

    def __len__(self) -> int:
        with self.changed:
            return len(self._queues)
