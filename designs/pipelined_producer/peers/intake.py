"""The client thread's part: it gives an event its partition and puts it into its queue.

The send thread takes from the other end. One lock is between them, held for moments only: no event is
serialised under it, and no metadata are fetched. Keys are partitioned as in 0.8, by Java's hash code.

Sources: kafka.producer.DefaultPartitioner and ByteArrayPartitioner, kafka.utils.Utils.abs of 0.8.2;
String.hashCode and Arrays.hashCode(byte[]).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from barnabas.designs.leaders import TopicPartition
from barnabas.designs.pipelined_producer.peers import queues, serializing
from barnabas.designs.pipelined_producer.peers.event import UNDESIGNATED, Event, Outcome
from barnabas.designs.pipelined_producer.peers.settings import Settings

LONGEST_TOPIC: Final = 249
"""Bytes of a topic's name (kafka.common.Topic has as many characters)."""

Partitioner = Callable[[Any, int], int]
"""Maps a key and a number of partitions to a partition, in the client's thread."""


def by_hash(key: Any, partitions: int) -> int:
    """Return the partition of a str or of bytes. Raises TypeError for other keys.

    >>> by_hash("hello", 1 << 31), by_hash(b"a", 1 << 31)
    (99162322, 128)
    """
    if isinstance(key, str):
        data, code = key.encode("utf-16-be"), 0
        parts = [int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2)]
    elif isinstance(key, bytes):
        parts, code = [byte - 256 if byte > 127 else byte for byte in key], 1
    else:
        name = type(key).__name__
        raise TypeError(f"a key of type {name}: give the producer its own partitioner")
    for part in parts:
        code = (31 * code + part) & 0xFFFFFFFF
    return (code & 0x7FFFFFFF) % partitions


class QueueFull(Exception):
    """There is no room for an event, which was not taken."""


class TooLarge(ValueError):
    """An event fits into no request, and was not taken."""


class Intake:
    """The queues, and the known numbers of partitions."""

    def __init__(
        self,
        settings: Settings,
        partitioner: Partitioner = by_hash,
        serializers: serializing.Serializers = serializing.PLAIN,
    ) -> None:
        shared = settings.queueing == "one"
        make: type[queues.Queues] = queues.OneQueue if shared else queues.PartitionQueues
        self.queues = make(settings.queue_messages, settings.batch_bytes - serializing.BATCH)
        self._settings = settings
        self._serializers = serializers
        self._partitioner = partitioner
        self._partitions: dict[str, int] = {}
        self.outstanding = 0
        """Events that were taken and not reported yet."""
        self.changed = threading.Condition()
        """Guards all this, and wakes threads that wait for room or for the end."""

    def put(self, event: Event) -> None:
        """Take an event.

        Raises QueueFull, TooLarge, ValueError for an invalid topic or partition, and what the
        partitioner raises. If the send thread uses another serializer than `plain`, only that thread
        finds out that an event is too large.
        """
        if not 0 < len(event.topic.encode()) <= LONGEST_TOPIC:
            raise ValueError(f"a topic's name has 1 to {LONGEST_TOPIC} bytes")
        if not UNDESIGNATED <= event.partition < 1 << 31:
            raise ValueError(f"partition {event.partition}: 0 or more, or {UNDESIGNATED} for any")
        if event.serialized is None:
            event.size = serializing.known_size(event.key, event.value, self._serializers)
        else:
            event.size = serializing.record_size(*event.serialized)
        problem = serializing.too_large(event.size, self._settings, event.topic)
        if problem is not None:
            raise TooLarge(problem)
        with self.changed:
            if self.outstanding >= (most := self._settings.outstanding):
                raise QueueFull(f"{most} messages are in the producer's hands already")
            partitions = self._partitions.get(event.topic)
            if event.partition == UNDESIGNATED and event.key is not None and partitions:
                event.partition = self._partition(event.key, partitions)
            if not self.queues.put(event):
                raise QueueFull(f"the queue for {event.topic} is full")
            self.outstanding += 1

    def known(self, partitions: Mapping[str, int]) -> list[Outcome]:
        """Take numbers of partitions, and give waiting events theirs; return those that failed."""
        with self.changed:
            new = [each for each in partitions.items() if each not in self._partitions.items()]
            self._partitions.update(new)
            return [outcome for topic, count in new for outcome in self._designate(topic, count)]

    def _designate(self, topic: str, count: int) -> list[Outcome]:
        partition: dict[Event, int] = {}
        failed: list[Outcome] = []

        def unfit(event: Event) -> bool:
            if event.topic_partition != (topic, UNDESIGNATED) or event.key is None:
                return False
            try:
                partition[event] = self._partition(event.key, count)
            except Exception as problem:  # noqa: BLE001 - whatever somebody's partitioner raises
                failed.append(Outcome(event, problem=f"no partition: {problem}"))
                return True
            return False

        self.queues.remove(unfit)
        self.queues.designate(topic, partition.__getitem__)
        return failed

    def _partition(self, key: Any, count: int) -> int:
        partition = self._partitioner(key, count)
        if not 0 <= partition < count:
            raise ValueError(f"the partitioner gives {partition} of {count} partitions")
        return partition

    def take(self, places: Collection[TopicPartition], limit: int, ripe: float) -> queues.Batches:
        """Take batches for these partitions, see `PartitionQueues.take`."""
        with self.changed:
            return self.queues.take(places, limit, ripe)

    def put_back(self, batches: queues.Batches) -> None:
        """Return batches that did not fit: they are the first of their partitions again."""
        with self.changed:
            self.queues.put_back(batches)

    def remove(self, unwanted: Callable[[Event], bool]) -> list[Event]:
        """Take out unwanted events."""
        with self.changed:
            return self.queues.remove(unwanted)

    def ripe(self, limit: int, ripe: float) -> set[TopicPartition]:
        """Return the places of which `take` would return something."""
        with self.changed:
            return set(self.queues.ripe(limit, ripe))

    def waiting(self) -> list[TopicPartition]:
        """Return the places with waiting events; -1 for events without a partition."""
        with self.changed:
            return list(self.queues.waiting())

    def firsts(self) -> Collection[float]:
        """Return when the first event of each queue was enqueued."""
        with self.changed:
            return self.queues.firsts()

    def over(self, count: int) -> None:
        """Make room for events that have been reported."""
        with self.changed:
            self.outstanding -= count
            self.changed.notify_all()
