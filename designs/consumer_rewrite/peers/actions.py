"""The actions of the cores. They are performed in order; a peer may die between any two."""

from __future__ import annotations

from dataclasses import dataclass

from barnabas.designs.brokers.listener import Close, Log, Send
from barnabas.designs.consumer_rewrite.peers.strategies import Partition
from barnabas.designs.consuming.dialer import Connect, Disconnect, Transmit


@dataclass(frozen=True)
class Write:
    """Replace the group's entry, if it still has this version; then call `Broker.written`.

    With another version, another broker coordinates the group: no later action may be performed.
    """

    group: str
    data: bytes
    version: int
    generation: int
    """The generation of the request, or the new one: for observers."""


@dataclass(frozen=True)
class Load:
    """Read and claim the entries of all groups of a slot, then call `Broker.loaded`."""

    slot: int


@dataclass(frozen=True)
class ReadTopics:
    """Read all topics with their partitions, then call `Broker.topics`."""


BrokerAction = Send | Close | Write | Load | ReadTopics | Log


@dataclass(frozen=True)
class Consume:
    """Let the application fetch these partitions from these offsets on."""

    generation: int
    start: dict[Partition, int]


@dataclass(frozen=True)
class Halt:
    """Let the application stop fetching; its positions are committed next."""


@dataclass(frozen=True)
class Fail:
    """Report that the consumer can't join, and is down."""

    error: str


ConsumerAction = Connect | Transmit | Disconnect | Consume | Halt | Fail
