"""A message in the producer, and its outcome."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from barnabas.designs.leaders import TopicPartition

UNDESIGNATED: Final = -1
"""The partition of an event without one: it has no key, or the topic's partitions are unknown."""


@dataclass(slots=True, eq=False)
class Event:
    """A message. key and value are objects, which one of the threads serialises.

    enqueued: seconds of the loop's clock. timestamp: ms since 1970, for brokers that keep it.
    """

    topic: str
    key: Any
    value: Any
    enqueued: float
    partition: int = UNDESIGNATED
    timestamp: int = -1
    told: Callable[[Outcome], None] | None = None
    size: int = 0
    """Known bytes of the event in a request, before it is serialised."""
    serialized: tuple[bytes | None, bytes | None] | None = None
    """Key and value, if the client's thread has serialised them."""
    attempts: int = 0
    """The number of sends without an acknowledgement."""
    problem: str | None = None
    """The reason for the last failure."""
    error: int = 0
    """The broker's error code of the last attempt; 0 if the broker did not refuse it."""

    @property
    def topic_partition(self) -> TopicPartition:
        """Return the event's topic and partition, which identify its queue."""
        return self.topic, self.partition


class Outcome(NamedTuple):
    """The single report of an event. problem: None if it was acknowledged, else the reason.

    offset: -1 if it is unknown (acks=0, or a problem). error: the broker's code, or 0.
    """

    event: Event
    offset: int = -1
    problem: str | None = None
    error: int = 0
