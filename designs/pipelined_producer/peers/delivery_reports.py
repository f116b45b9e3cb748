"""Fates of events: acknowledged, retried, or given up with the last problem.

Batches of a partition are retried in the order in which they failed, before new events of it. With one
request in flight that keeps the order; with several, later requests in flight overtake.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from barnabas.designs.leaders import UNKNOWN_TOPIC_OR_PARTITION, TopicPartition
from barnabas.designs.pipelined_producer.peers.event import Event, Outcome
from barnabas.designs.pipelined_producer.peers.intake import Intake
from barnabas.designs.pipelined_producer.peers.queues import Batches
from barnabas.designs.pipelined_producer.peers.refresher import RETRIABLE
from barnabas.designs.pipelined_producer.peers.settings import Settings
from barnabas.specs.error_codes import error_name

LOST: Final = "the connection was lost"
LATE: Final = "the broker did not answer in time"
EXPIRED: Final = "expired"
CLOSED: Final = "the producer was closed"


class Retry(NamedTuple):
    """A batch to be retried, not before `due` (seconds)."""

    topic_partition: TopicPartition
    events: list[Event]
    due: float


class Retries:
    """Refused batches, and batches of lost connections, until they are retried."""

    def __init__(self) -> None:
        self._waiting: list[Retry] = []

    def add(self, partition: TopicPartition, events: list[Event], due: float) -> None:
        """Add a batch."""
        self._waiting.append(Retry(partition, events, due))

    def put_back(self, batches: Batches) -> None:
        """Return batches that did not fit: they are the first of their partitions, and due."""
        self._waiting[:0] = (
            Retry(partition, events, -math.inf) for partition, events in batches.items()
        )

    def take(self, places: Collection[TopicPartition], now: float) -> Batches:
        """Take the first batch of each of these partitions, if it is due."""
        due = self.ripe(now).intersection(places)
        taken: Batches = {}
        rest: list[Retry] = []
        for retry in self._waiting:
            if retry.topic_partition in due and retry.topic_partition not in taken:
                taken[retry.topic_partition] = retry.events
            else:
                rest.append(retry)
        self._waiting = rest
        return taken

    def ripe(self, now: float) -> set[TopicPartition]:
        """Return the partitions whose first batch is due."""
        first = {retry.topic_partition: retry.due for retry in reversed(self._waiting)}
        return {partition for partition, due in first.items() if due <= now}

    def held(self) -> set[TopicPartition]:
        """Return the partitions for which no new events are sent."""
        return {retry.topic_partition for retry in self._waiting}

    def remove(self, unwanted: Callable[[Event], bool]) -> list[Event]:
        """Take out unwanted events."""
        events = [event for retry in self._waiting for event in retry.events]
        rest = [
            retry._replace(events=[event for event in retry.events if not unwanted(event)])
            for retry in self._waiting
        ]
        self._waiting = [retry for retry in rest if retry.events]
        return [event for event in events if unwanted(event)]

    def times(self, expiry: float) -> list[float]:
        """Return when batches are due, and when their oldest events expire, in seconds."""
        return [
            time
            for retry in self._waiting
            for time in (retry.due, min(event.enqueued for event in retry.events) + expiry)
        ]

    def __len__(self) -> int:
        return sum(len(retry.events) for retry in self._waiting)


@dataclass(slots=True)
class DeliveryReports:
    """Decides the fate of events. Times in seconds."""

    settings: Settings
    intake: Intake
    retries: Retries
    error_of: Callable[[TopicPartition], int]
    """Returns the code that keeps events of a partition from being sent, or 0."""
    say: Callable[[Outcome], None]
    """Takes outcomes."""

    def acknowledged(self, events: Sequence[Event], offset: int = -1) -> None:
        """Report events as written. offset: that of the first, -1 if it is unknown."""
        for number, event in enumerate(events):
            self.say(Outcome(event, offset + number if offset >= 0 else -1))

    def failed(
        self, partition: TopicPartition, events: Iterable[Event], problem: str | int, now: float
    ) -> None:
        """Retry a batch if that may help and retries are left. problem: a broker's code, or text."""
        error = problem if isinstance(problem, int) else 0
        again: list[Event] = []
        for event in events:
            event.attempts += 1
            event.problem, event.error = error_name(error) if error else str(problem), error
            if event.attempts <= self.settings.retries and (not error or error in RETRIABLE):
                again.append(event)
            else:
                self.say(Outcome(event, problem=event.problem, error=error))
        if again:
            self.retries.add(partition, again, now + self.settings.retry_backoff_ms / 1e3)

    def no_topic(self, topic: str, error: int) -> None:
        """Give up the events of a topic with a permanent error."""
        for event in self._take(lambda event: event.topic == topic):
            self.say(Outcome(event, problem=error_name(error), error=error))

    def no_partition(
        self, waiting: Iterable[TopicPartition], partitions: Mapping[str, int], asked_at: float
    ) -> None:
        """Give up events for partitions that the metadata lack, if they were sent before the request."""
        missing = {
            partition
            for partition in waiting
            if partition[1] >= partitions.get(partition[0], math.inf)
        }
        if not missing:
            return
        for event in self._take(
            lambda event: event.topic_partition in missing and event.enqueued <= asked_at
        ):
            problem = f"no partition {event.partition}: {event.topic} has {partitions[event.topic]}"
            self.say(Outcome(event, problem=problem, error=UNKNOWN_TOPIC_OR_PARTITION))

    def expire(self, now: float, reason: str = EXPIRED) -> None:
        """Give up events that are too old, at infinity all."""
        expiry = self.settings.expiry_ms / 1e3

        def too_old(event: Event) -> bool:
            return event.enqueued + expiry <= now

        self.given_up(self.retries.remove(too_old), reason)
        if min(self.intake.firsts(), default=math.inf) + expiry <= now:
            self.given_up(self.intake.remove(too_old), reason)

    def given_up(self, events: Iterable[Event], reason: str) -> None:
        """Report events that are not sent any more, with their last problem or that of the metadata."""
        for event in events:
            error, problem = event.error, event.problem
            if problem is None and (error := self.error_of(event.topic_partition)):
                problem = error_name(error)
            self.say(
                Outcome(event, problem=f"{reason}: {problem}" if problem else reason, error=error)
            )

    def _take(self, unwanted: Callable[[Event], bool]) -> list[Event]:
        return [*self.retries.remove(unwanted), *self.intake.remove(unwanted)]
