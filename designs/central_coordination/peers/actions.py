"""What the cores ask to be done. Actions are carried out in order; a peer may die between any two.

What is asked of the registry takes its time: it follows what was asked of it before for the same group, and
nothing else waits for it.
"""

from __future__ import annotations

from dataclasses import dataclass

from barnabas.designs.brokers.listener import Close, Log, Send
from barnabas.designs.central_coordination.peers.interest import Partition
from barnabas.designs.consuming.dialer import Connect, Disconnect, Transmit


@dataclass(frozen=True)
class StoreOffsets:
    """Write down where consumers stopped: the next offset of each partition."""

    group: str
    offsets: dict[Partition, int]


@dataclass(frozen=True)
class ReadOffsets:
    """Read all offsets of a group, then call `Broker.offsets` with this."""

    group: str
    number: int
    """Of a broker's readings: one that comes late is not taken for the next one of its group."""


BrokerAction = Send | Close | StoreOffsets | ReadOffsets | Log


@dataclass(frozen=True)
class StartFetchers:
    """The application fetches from these offsets on."""

    start: dict[Partition, int]


@dataclass(frozen=True)
class StopFetchers:
    """The application stops to fetch."""


ConsumerAction = Connect | Transmit | Disconnect | StartFetchers | StopFetchers | Log
