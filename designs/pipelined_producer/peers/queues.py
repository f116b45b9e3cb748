"""The document's two choices of queueing, with the same functions, so that they can be compared.

`PartitionQueues`: a queue per partition, and one per topic for events without a partition. A slow or
leaderless partition does not affect others; there are as many queues as partitions.
`OneQueue`: a queue for everything. If it is full for one partition, it is full for all; each batch skips
over the events that can't be sent now.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable
from heapq import merge

from barnabas.designs.leaders import TopicPartition, by_topic
from barnabas.designs.pipelined_producer.peers.event import UNDESIGNATED, Event

Batches = dict[TopicPartition, list[Event]]


class PartitionQueues:
    """A queue per partition, and one per topic for partition -1. room: events of each queue.

    batch_bytes: known bytes of events that make a full batch.
    """

    def __init__(self, room: int, batch_bytes: int) -> None:
        self._room = room
        self._batch_bytes = batch_bytes
        self._queues: dict[TopicPartition, deque[Event]] = {}
        self._bytes: Counter[TopicPartition] = Counter()
        self._turns: Counter[TopicPartition] = Counter()

    def put(self, event: Event) -> bool:
        """Add an event at the end; return False if there is no room."""
        if len(self._queues.get(event.topic_partition, ())) >= self._room:
            return False
        self._queues.setdefault(event.topic_partition, deque()).append(event)
        self._bytes[event.topic_partition] += event.size
        return True

    def take(self, places: Collection[TopicPartition], limit: int, ripe: float) -> Batches:
        """Take what may go to these partitions now, at most `limit` events each, in order.

        An event without a partition goes to one of them. A batch that is not full, of events or of
        known bytes, waits until its first event was enqueued at `ripe` or before.
        """
        firsts = ((partition, self._first(partition, limit, ripe)) for partition in places)
        batches = {partition: batch for partition, batch in firsts if batch}
        for topic, numbers in by_topic((partition, None) for partition in places):
            turns = topic, numbers[0][0]
            partition = topic, numbers[self._turns[turns] % len(numbers)][0]
            batch = batches.get(partition, [])
            more = self._first((topic, UNDESIGNATED), limit - len(batch), ripe)
            for event in more:
                event.partition = partition[1]
            if more:
                self._turns[turns] += 1
                batches[partition] = batch + more
        return batches

    def put_back(self, batches: Batches) -> None:
        """Return what was taken last to the front of its queues, even if there is no room left."""
        for partition, events in batches.items():
            self._queues.setdefault(partition, deque()).extendleft(reversed(events))
            self._bytes[partition] += sum(event.size for event in events)

    def designate(self, topic: str, partition: Callable[[Event], int]) -> None:
        """Give events with keys their partitions; order is kept, and room not needed."""
        queue = self._queues.pop((topic, UNDESIGNATED), None)
        self._bytes.pop((topic, UNDESIGNATED), None)
        for event in queue or ():
            if event.key is not None:
                event.partition = partition(event)
            self._queues.setdefault(event.topic_partition, deque()).append(event)
            self._bytes[event.topic_partition] += event.size

    def remove(self, unwanted: Callable[[Event], bool]) -> list[Event]:
        """Take out unwanted events, e.g. old ones."""
        removed: list[Event] = []
        for partition, queue in list(self._queues.items()):
            rest = _without(queue, unwanted, removed)
            self._bytes[partition] = sum(event.size for event in rest)
            self._keep(partition, rest)
        return removed

    def ripe(self, limit: int, ripe: float) -> Iterable[TopicPartition]:
        """Return the places of which `take` would return something; -1 for no partition."""
        queues = self._queues.items()
        return [
            partition
            for partition, queue in queues
            if self._is_ready(partition, queue, limit, ripe)
        ]

    def waiting(self) -> Iterable[TopicPartition]:
        """Return the places with waiting events; -1 for events without a partition."""
        return self._queues.keys()

    def firsts(self) -> Collection[float]:
        """Return when the first event of each queue was enqueued.

        This looks at all queues: the document's "complicates the code to some extent".
        """
        return [queue[0].enqueued for queue in self._queues.values()]

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))

    def _first(self, partition: TopicPartition, limit: int, ripe: float) -> list[Event]:
        queue = self._queues.get(partition)
        if not queue or limit <= 0 or not self._is_ready(partition, queue, limit, ripe):
            return []
        batch = [queue.popleft() for _ in range(min(limit, len(queue)))]
        self._bytes[partition] -= sum(event.size for event in batch)
        self._keep(partition, queue)
        return batch

    def _is_ready(
        self, partition: TopicPartition, queue: deque[Event], limit: int, ripe: float
    ) -> bool:
        full = len(queue) >= limit or self._bytes[partition] >= self._batch_bytes
        return full or queue[0].enqueued <= ripe

    def _keep(self, partition: TopicPartition, queue: deque[Event]) -> None:
        if queue:
            self._queues[partition] = queue
        else:  # empty queues are removed
            self._queues.pop(partition, None)
            self._bytes.pop(partition, None)


class OneQueue:
    """A queue for all topics and partitions, with the functions of PartitionQueues. room: of all events."""

    def __init__(self, room: int, batch_bytes: int) -> None:
        self._room = room
        self._batch_bytes = batch_bytes
        self._queue: deque[Event] = deque()
        self._bytes = 0
        self._counts: Counter[TopicPartition] = Counter()
        """The number of events of each partition: it ends the search early."""
        self._turns: Counter[TopicPartition] = Counter()

    def put(self, event: Event) -> bool:
        """See PartitionQueues."""
        if len(self._queue) >= self._room:
            return False
        self._queue.append(event)
        self._bytes += event.size
        self._counts[event.topic_partition] += 1
        return True

    def take(self, places: Collection[TopicPartition], limit: int, ripe: float) -> Batches:
        """Take batches as `PartitionQueues` does; skip other events, and put them back in front.

        The queue is ripe as a whole: with as much as a batch has, or with an old event.
        """
        queue = self._queue
        if not self._is_ready(limit, ripe):
            return {}
        numbers = {
            topic: [n for n, _ in partitions_of_topic]
            for topic, partitions_of_topic in by_topic((p, None) for p in places)
        }
        sought = {*places, *((topic, UNDESIGNATED) for topic in numbers)} & self._counts.keys()
        batches: Batches = {}
        skipped: list[Event] = []
        while sought and queue:
            event = queue.popleft()
            queued = event.topic_partition
            topic, number = queued
            if queued in sought and number == UNDESIGNATED:
                choice = numbers[topic]
                number = choice[self._turns[topic, choice[0]] % len(choice)]
            if queued not in sought or len(batches.get((topic, number), ())) >= limit:
                skipped.append(event)
                sought.discard(
                    queued
                )  # the batch is full: later events of the partition stay after it
                continue
            event.partition = number
            batches.setdefault((topic, number), []).append(event)
            self._bytes -= event.size
            self._counts[queued] -= 1
            if not self._counts[queued]:
                sought.remove(queued)
                del self._counts[queued]
        queue.extendleft(reversed(skipped))
        self._turns.update((topic, choice[0]) for topic, choice in numbers.items())
        return batches

    def put_back(self, batches: Batches) -> None:
        """See PartitionQueues."""
        # the first is the oldest of all still, and each partition keeps its order
        events = list(merge(*batches.values(), key=lambda event: event.enqueued))
        self._queue.extendleft(reversed(events))
        self._bytes += sum(event.size for event in events)
        self._counts.update(event.topic_partition for event in events)

    def designate(self, topic: str, partition: Callable[[Event], int]) -> None:
        """Give events with keys their partitions, in their places."""
        for event in self._queue:
            if event.topic_partition == (topic, UNDESIGNATED) and event.key is not None:
                self._counts[event.topic_partition] -= 1
                event.partition = partition(event)
                self._counts[event.topic_partition] += 1
        self._counts += Counter()

    def remove(self, unwanted: Callable[[Event], bool]) -> list[Event]:
        """See PartitionQueues."""
        removed: list[Event] = []
        self._queue = _without(self._queue, unwanted, removed)
        self._bytes = sum(event.size for event in self._queue)
        self._counts = Counter(event.topic_partition for event in self._queue)
        return removed

    def ripe(self, limit: int, ripe: float) -> Iterable[TopicPartition]:
        """Return all places or none."""
        return self._counts.keys() if self._is_ready(limit, ripe) else ()

    def waiting(self) -> Iterable[TopicPartition]:
        """See PartitionQueues."""
        return self._counts.keys()

    def firsts(self) -> Collection[float]:
        """See PartitionQueues."""
        return [self._queue[0].enqueued] if self._queue else []

    def _is_ready(self, limit: int, ripe: float) -> bool:
        full = len(self._queue) >= limit or self._bytes >= self._batch_bytes
        return bool(self._queue) and (full or self._queue[0].enqueued <= ripe)

    def __len__(self) -> int:
        return len(self._queue)


Queues = PartitionQueues | OneQueue


def _without(
    queue: deque[Event], unwanted: Callable[[Event], bool], removed: list[Event]
) -> deque[Event]:
    """Return the rest of a queue, and add unwanted events to `removed`."""
    rest: deque[Event] = deque()
    for event in queue:
        (removed if unwanted(event) else rest).append(event)
    return rest
