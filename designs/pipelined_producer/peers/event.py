"""A message in the producer's hands, and what became of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from barnabas.designs.leaders import Place

UNDESIGNATED: Final = -1
"""The partition of what has none yet: it has no key, or the topic's partitions are not known."""


@dataclass(slots=True, eq=False)
class Event:
    """A message. key and value are objects, of which one of the threads makes bytes.

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
    """Bytes that it takes in a request, as far as that is known before it is serialised."""
    serialized: tuple[bytes | None, bytes | None] | None = None
    """Key and value, if the client's thread has made bytes of them."""
    attempts: int = 0
    """How often it was sent and not acknowledged."""
    problem: str | None = None
    """Why it was not, the last time."""
    error: int = 0
    """The broker's code for that; 0 if it is not the broker's problem."""

    @property
    def place(self) -> Place:
        """Its queue."""
        return self.topic, self.partition


class Outcome(NamedTuple):
    """What is said once of every event. problem: None if it was acknowledged, else why not.

    offset: -1 if nobody said (acks=0, or a problem). error: the broker's code, 0 if it is not the
    broker's problem.
    """

    event: Event
    offset: int = -1
    problem: str | None = None
    error: int = 0
