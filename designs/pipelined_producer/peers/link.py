"""One connection: how far it is, what it has in flight, what of a request is not written yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from barnabas.designs.dialogue import Dialogue, ProtocolError
from barnabas.designs.leaders import Address, Place
from barnabas.designs.pipelined_producer.peers.queues import Batches
from barnabas.designs.pipelined_producer.peers.settings import NEWEST_PRODUCE
from barnabas.specs.keys import PRODUCE


class State(StrEnum):
    """down -> connecting -> (asking, for a broker's versions) -> ready; from anywhere to down."""

    DOWN = "down"
    CONNECTING = "connecting"
    ASKING = "asking"
    READY = "ready"


@dataclass(slots=True, eq=False)
class Sent:
    """A Produce request that is under way, or with acks=0 one that is not all written."""

    batches: Batches
    until: float
    """When its answer is late, in seconds."""


@dataclass(slots=True)
class Link:
    """A connection to a broker, from the loop's side."""

    node: int
    address: Address
    dialogue: Dialogue
    state: State = State.DOWN
    version: int = 0
    """Of Produce, when it is ready."""
    old: bool = False
    """It did not say which versions it knows: 0.8 closes the connection, 0.9 says nothing."""
    heard: bool = False
    """Whether it has answered anything since it was connected."""
    not_before: float = 0.0
    """When it may be connected again, in seconds."""
    until: float = 0.0
    """When connecting, or an answer that is no Produce's, is late."""
    outgoing: memoryview = field(default_factory=lambda: memoryview(b""))
    """The incomplete request: bytes that the socket has not taken yet."""
    writing: Sent | None = None
    """Whose bytes they are, if it has no answer to wait for."""
    in_flight: list[Sent] = field(default_factory=list)
    """Waiting for their answers, the oldest first."""
    flying: Counter[Place] = field(default_factory=Counter)
    """How many batches of each partition are in flight here."""

    @property
    def up(self) -> bool:
        """Whether bytes can be sent."""
        return self.state in (State.ASKING, State.READY)

    def depart(self, sent: Sent, *, answered: bool) -> None:
        """A request is under way."""
        self.flying.update(sent.batches.keys())
        if answered:
            self.in_flight.append(sent)
        else:
            self.writing = sent

    def arrive(self, sent: Sent) -> None:
        """It is over."""
        self.flying.subtract(sent.batches.keys())
        self.flying += Counter()
        if sent is self.writing:
            self.writing = None
        else:
            self.in_flight.remove(sent)

    def down(self, client_id: str, not_before: float) -> list[Sent]:
        """The connection is gone; gives what was in flight, the oldest first."""
        lost = [*self.in_flight, *([self.writing] if self.writing else [])]
        if self.state == State.ASKING:
            self.old, not_before = True, 0.0  # at once, and without asking
        elif self.old and not self.heard:
            self.old = False  # it may be another one by now: ask again
        self.heard = False
        self.state, self.not_before = State.DOWN, not_before
        self.dialogue = Dialogue(client_id)
        self.outgoing = memoryview(b"")
        self.writing = None
        self.in_flight = []
        self.flying = Counter()
        return lost


def produce_version(body: Mapping[str, Any]) -> int:
    """The newest Produce that a broker offers and we speak. Raises ProtocolError if there is none."""
    for one in body["api_keys"]:
        if one["api_key"] == PRODUCE and one["min_version"] <= NEWEST_PRODUCE:
            return max(0, min(NEWEST_PRODUCE, int(one["max_version"])))
    raise ProtocolError("the broker offers no Produce that is known here")
