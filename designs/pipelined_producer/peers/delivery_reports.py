"""What becomes of events: acknowledged, sent again, or given up with what was last wrong with them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from barnabas.designs.leaders import UNKNOWN_TOPIC_OR_PARTITION, Place
from barnabas.designs.pipelined_producer.peers.event import Event, Outcome
from barnabas.designs.pipelined_producer.peers.intake import Intake
from barnabas.designs.pipelined_producer.peers.refresher import RETRIABLE
from barnabas.designs.pipelined_producer.peers.retries import Retries
from barnabas.designs.pipelined_producer.peers.settings import Settings
from barnabas.specs.error_codes import ERROR_CODES

LOST: Final = "the connection was lost"
LATE: Final = "the broker did not answer in time"
EXPIRED: Final = "expired"
CLOSED: Final = "the producer was closed"

_NAMES: Final = {one.code: one.name for one in ERROR_CODES}


class DeliveryReports:
    """Says of each event what became of it. Times in seconds.

    error_of: the code that says why nothing can be sent to a place, 0 if nobody does. say: what hears of it.
    """

    def __init__(
        self,
        settings: Settings,
        intake: Intake,
        retries: Retries,
        error_of: Callable[[Place], int],
        say: Callable[[Outcome], None],
    ) -> None:
        self._settings = settings
        self._intake = intake
        self._retries = retries
        self._error_of = error_of
        self._say = say

    def acknowledged(self, events: Sequence[Event], offset: int = -1) -> None:
        """They are written; offset: that of the first, -1 if nobody said."""
        for number, event in enumerate(events):
            self._say(Outcome(event, offset + number if offset >= 0 else -1))

    def refused(self, place: Place, events: Iterable[Event], error: int, now: float) -> None:
        """A broker did not take a batch."""
        self._again(place, events, error, name(error), now)

    def lost(self, place: Place, events: Iterable[Event], problem: str, now: float) -> None:
        """Nobody knows whether a batch was written."""
        self._again(place, events, 0, problem, now)

    def _again(
        self, place: Place, events: Iterable[Event], error: int, problem: str, now: float
    ) -> None:
        """Send a batch again, if it may help and was not too often."""
        again: list[Event] = []
        for event in events:
            event.attempts += 1
            event.problem, event.error = problem, error
            if event.attempts <= self._settings.retries and (not error or error in RETRIABLE):
                again.append(event)
            else:
                self._say(Outcome(event, problem=problem, error=error))
        if again:
            self._retries.add(place, again, now + self._settings.retry_backoff_ms / 1e3)

    def no_topic(self, topic: str, error: int) -> None:
        """A topic can't be sent to, and that will not change."""
        for event in self._take(lambda event: event.topic == topic):
            self._say(Outcome(event, problem=name(error), error=error))

    def no_partition(
        self, waiting: Iterable[Place], partitions: Mapping[str, int], asked: float
    ) -> None:
        """Give up what waits for partitions that a topic had not when it was asked for, later than sent."""
        gone = {place for place in waiting if place[1] >= partitions.get(place[0], math.inf)}
        if not gone:
            return
        for event in self._take(lambda event: event.place in gone and event.enqueued <= asked):
            problem = f"no partition {event.partition}: {event.topic} has {partitions[event.topic]}"
            self._say(Outcome(event, problem=problem, error=UNKNOWN_TOPIC_OR_PARTITION))

    def expire(self, now: float) -> None:
        """Give up what is too old."""
        expiry = self._settings.expiry_ms / 1e3

        def too_old(event: Event) -> bool:
            return event.enqueued + expiry <= now

        if min(self._intake.firsts(), default=math.inf) + expiry <= now:
            self.given_up(self._intake.remove(too_old), EXPIRED)
        if len(self._retries):
            self.given_up(self._retries.remove(too_old), EXPIRED)

    def end(self) -> None:
        """Give up all that waits: the producer was closed."""
        self.given_up(self._take(lambda _: True), CLOSED)

    def given_up(self, events: Iterable[Event], why: str) -> None:
        """They are not sent any more; what was last wrong is said, too, or what metadata say of them."""
        for event in events:
            error, problem = event.error, event.problem
            if problem is None and (error := self._error_of(event.place)):
                problem = name(error)
            self._say(Outcome(event, problem=f"{why}: {problem}" if problem else why, error=error))

    def _take(self, wanted: Callable[[Event], bool]) -> list[Event]:
        return [*self._retries.remove(wanted), *self._intake.remove(wanted)]


def name(error: int) -> str:
    """Kafka's name of an error.

    >>> name(19), name(12345)
    ('NOT_ENOUGH_REPLICAS', 'error 12345')
    """
    return _NAMES.get(error, f"error {error}")
