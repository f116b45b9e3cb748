"""The document's two choices of queueing, with the same functions, so that they can be compared.

`PartitionQueues`: one queue per partition, and one per topic for partition -1. What is slow or has
no leader concerns nobody else; there are as many queues as partitions.
`OneQueue`: one for everything. It is full for all if it is full for one, and what can't be sent now
is skipped over, again in each batch.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator
from heapq import merge
from typing import Final, Protocol

from barnabas.designs.leaders import Place
from barnabas.designs.pipelined_producer.peers.event import UNDESIGNATED, Event

Batches = dict[Place, list[Event]]


class Queues(Protocol):
    """What waits to be sent for the first time."""

    def put(self, event: Event) -> bool:
        """Add at the end; False if there is no room."""

    def take(self, places: Collection[Place], limit: int, ripe: float) -> Batches:
        """What may go to these partitions now, at most so many events each, in order.

        An undesignated event goes to one of them. A batch that is not full, of events or of bytes as
        far as they are known, waits until its first event was enqueued at `ripe` or before.
        """

    def put_back(self, batches: Batches) -> None:
        """What was taken last is the first of its partition again, even if there is no room left."""

    def designate(self, topic: str, partition: Callable[[Event], int]) -> None:
        """Give what has a key its partition, now that their number is known; order is kept."""

    def remove(self, wanted: Callable[[Event], bool]) -> list[Event]:
        """Take out all that are wanted, e.g. those that are too old."""

    def ripe(self, limit: int, ripe: float) -> Iterable[Place]:
        """The places of which `take` would give something; partition -1 for what has none."""

    def waiting(self) -> Iterable[Place]:
        """The places with something that waits; partition -1 for what has none."""

    def firsts(self) -> Collection[float]:
        """When the first event of each queue was enqueued; the earliest is the oldest of all."""

    def __len__(self) -> int: ...


class PartitionQueues:
    """A queue per partition, and the undesignated one of each topic; `room` is that of each."""

    def __init__(self, room: int, batch_bytes: int) -> None:
        self._room: Final = room
        self._batch_bytes: Final = batch_bytes
        self._queues: dict[Place, deque[Event]] = {}
        self._bytes: Counter[Place] = Counter()
        self._turns: Counter[Place] = Counter()

    def put(self, event: Event) -> bool:
        """See Queues."""
        if len(self._queues.get(event.place, ())) >= self._room:
            return False
        self._queues.setdefault(event.place, deque()).append(event)
        self._bytes[event.place] += event.size
        return True

    def take(self, places: Collection[Place], limit: int, ripe: float) -> Batches:
        """See Queues. Partitions are asked one by one, and no other is looked at."""
        found: Batches = {}
        for place in places:
            batch = self._first(place, limit, ripe)
            if batch:
                found[place] = batch
        for topic, own in _by_topic(places):
            if (topic, UNDESIGNATED) in self._queues:
                place = own[self._turns[own[0]] % len(own)]
                batch = found.get(place, [])
                more = self._first((topic, UNDESIGNATED), limit - len(batch), ripe)
                for event in more:
                    event.partition = place[1]
                if more:
                    self._turns[own[0]] += 1
                    found[place] = batch + more
        return found

    def put_back(self, batches: Batches) -> None:
        """See Queues."""
        for place, events in batches.items():
            self._queues.setdefault(place, deque()).extendleft(reversed(events))
            self._bytes[place] += sum(event.size for event in events)

    def designate(self, topic: str, partition: Callable[[Event], int]) -> None:
        """See Queues. What has a key moves to its queue, even if that has no room left."""
        queue = self._queues.pop((topic, UNDESIGNATED), None)
        self._bytes.pop((topic, UNDESIGNATED), None)
        for event in queue or ():
            if event.key is not None:
                event.partition = partition(event)
            self._queues.setdefault(event.place, deque()).append(event)
            self._bytes[event.place] += event.size

    def remove(self, wanted: Callable[[Event], bool]) -> list[Event]:
        """See Queues."""
        found: list[Event] = []
        for place, queue in list(self._queues.items()):
            kept = _without(queue, wanted, found)
            self._bytes[place] = sum(event.size for event in kept)
            self._keep(place, kept)
        return found

    def ripe(self, limit: int, ripe: float) -> Iterable[Place]:
        """See Queues."""
        return [
            place for place, queue in self._queues.items() if self._goes(place, queue, limit, ripe)
        ]

    def waiting(self) -> Iterable[Place]:
        """See Queues."""
        return self._queues.keys()

    def firsts(self) -> Collection[float]:
        """See Queues. All queues are asked: the document's "complicates the code to some extent"."""
        return [queue[0].enqueued for queue in self._queues.values()]

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))

    def _first(self, place: Place, limit: int, ripe: float) -> list[Event]:
        queue = self._queues.get(place)
        if not queue or limit <= 0 or not self._goes(place, queue, limit, ripe):
            return []
        found = [queue.popleft() for _ in range(min(limit, len(queue)))]
        self._bytes[place] -= sum(event.size for event in found)
        self._keep(place, queue)
        return found

    def _goes(self, place: Place, queue: deque[Event], limit: int, ripe: float) -> bool:
        full = len(queue) >= limit or self._bytes[place] >= self._batch_bytes
        return full or queue[0].enqueued <= ripe

    def _keep(self, place: Place, queue: deque[Event]) -> None:
        if queue:
            self._queues[place] = queue
        else:  # a queue is there only while something is in it
            self._queues.pop(place, None)
            self._bytes.pop(place, None)


class OneQueue:
    """One queue for all topics and partitions, with `room` for all of them together."""

    def __init__(self, room: int, batch_bytes: int) -> None:
        self._room: Final = room
        self._batch_bytes: Final = batch_bytes
        self._queue: deque[Event] = deque()
        self._bytes = 0
        self._counts: Counter[Place] = Counter()
        """How many of each place are in it: where it need not be searched any further."""
        self._turns: Counter[Place] = Counter()

    def put(self, event: Event) -> bool:
        """See Queues."""
        if len(self._queue) >= self._room:
            return False
        self._queue.append(event)
        self._bytes += event.size
        self._counts[event.place] += 1
        return True

    def take(self, places: Collection[Place], limit: int, ripe: float) -> Batches:
        """See Queues. Over what may not go now it skips, and puts it back in front.

        It is ripe as a whole: with as much as a batch has, or with an event that waited so long.
        """
        queue = self._queue
        if not self._goes(limit, ripe):
            return {}
        own = dict(_by_topic(places))
        left = {place: self._counts[place] for place in places}
        left |= {(topic, UNDESIGNATED): self._counts[topic, UNDESIGNATED] for topic in own}
        left = {place: count for place, count in left.items() if count}
        found: Batches = {}
        skipped: list[Event] = []
        while left and queue:
            event = queue.popleft()
            queued = event.place
            place = queued
            if queued in left and event.partition == UNDESIGNATED:
                choice = own[event.topic]
                place = choice[self._turns[choice[0]] % len(choice)]
            if queued not in left or len(found.get(place, ())) >= limit:
                skipped.append(event)
                left.pop(queued, None)  # this one is full: what comes later of it stays behind
                continue
            event.partition = place[1]
            found.setdefault(place, []).append(event)
            self._bytes -= event.size
            self._counts[queued] -= 1
            left[queued] -= 1
            if not left[queued]:
                del left[queued]
        queue.extendleft(reversed(skipped))
        self._turns.update(choice[0] for choice in own.values())
        self._counts += Counter()  # without those of which there are none
        return found

    def put_back(self, batches: Batches) -> None:
        """See Queues."""
        # the first is the oldest of all still, and each partition keeps its order
        events = list(merge(*batches.values(), key=lambda event: event.enqueued))
        self._queue.extendleft(reversed(events))
        self._bytes += sum(event.size for event in events)
        self._counts.update(event.place for event in events)

    def designate(self, topic: str, partition: Callable[[Event], int]) -> None:
        """See Queues. They stay where they are."""
        for event in self._queue:
            if event.place == (topic, UNDESIGNATED) and event.key is not None:
                self._counts[event.place] -= 1
                event.partition = partition(event)
                self._counts[event.place] += 1
        self._counts += Counter()

    def remove(self, wanted: Callable[[Event], bool]) -> list[Event]:
        """See Queues."""
        found: list[Event] = []
        self._queue = _without(self._queue, wanted, found)
        self._bytes = sum(event.size for event in self._queue)
        self._counts = Counter(event.place for event in self._queue)
        return found

    def ripe(self, limit: int, ripe: float) -> Iterable[Place]:
        """See Queues. All of them or none."""
        return self._counts.keys() if self._goes(limit, ripe) else ()

    def waiting(self) -> Iterable[Place]:
        """See Queues."""
        return self._counts.keys()

    def firsts(self) -> Collection[float]:
        """See Queues."""
        return [self._queue[0].enqueued] if self._queue else []

    def _goes(self, limit: int, ripe: float) -> bool:
        full = len(self._queue) >= limit or self._bytes >= self._batch_bytes
        return bool(self._queue) and (full or self._queue[0].enqueued <= ripe)

    def __len__(self) -> int:
        return len(self._queue)


def _by_topic(places: Iterable[Place]) -> Iterator[tuple[str, list[Place]]]:
    found: dict[str, list[Place]] = {}
    for place in places:
        found.setdefault(place[0], []).append(place)
    return iter(found.items())


def _without(
    queue: deque[Event], wanted: Callable[[Event], bool], found: list[Event]
) -> deque[Event]:
    """What stays of a queue; what is wanted of it goes to `found`."""
    kept: deque[Event] = deque()
    for event in queue:
        (found if wanted(event) else kept).append(event)
    return kept
