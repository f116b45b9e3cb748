"""What the cores ask to be done. Actions are carried out in order; a peer may die between any two."""

from __future__ import annotations

from dataclasses import dataclass

from barnabas.designs.brokers.listener import Close, Log, Send
from barnabas.designs.consumer_rewrite.peers.strategies import Partition
from barnabas.designs.consuming.dialer import Connect, Disconnect, Transmit


@dataclass(frozen=True)
class Write:
    """Replace the group's entry, if it still has this version; then call `Broker.written`.

    If it has not, somebody else coordinates the group: nothing that stands behind may be done.
    """

    group: str
    data: bytes
    version: int
    generation: int
    """Of the request that is the reason, or the new one: for who looks on."""


@dataclass(frozen=True)
class Load:
    """Read and claim the entries of all groups of a slot, then call `Broker.loaded`."""

    slot: int


@dataclass(frozen=True)
class ReadTopics:
    """Read which topics there are, with their partitions, then call `Broker.topics`."""


BrokerAction = Send | Close | Write | Load | ReadTopics | Log


@dataclass(frozen=True)
class Consume:
    """The application gets these partitions and fetches from these offsets on."""

    generation: int
    start: dict[Partition, int]


@dataclass(frozen=True)
class Halt:
    """The application stops to fetch; what it consumed is committed next."""


@dataclass(frozen=True)
class Fail:
    """The consumer is unable to join, and is down."""

    error: str


ConsumerAction = Connect | Transmit | Disconnect | Consume | Halt | Fail
