"""The actions of the cores. They are performed in order; a peer may die between any two.

Requests to the registry take time: each follows earlier ones of the same group, and nothing else waits for
it.
"""

from __future__ import annotations

from dataclasses import dataclass

from barnabas.designs.brokers.listener import Close, Log, Send
from barnabas.designs.central_coordination.peers.interest import Partition
from barnabas.designs.consuming.dialer import Connect, Disconnect, Transmit


@dataclass(frozen=True)
class StoreOffsets:
    """Store the offsets at which consumers stopped: the next offset of each partition."""

    group: str
    offsets: dict[Partition, int]


@dataclass(frozen=True)
class ReadOffsets:
    """Read all offsets of a group, then call `Broker.offsets` with this."""

    group: str
    number: int
    """A number of the broker: a late response is not taken for that of the group's next reading."""


BrokerAction = Send | Close | StoreOffsets | ReadOffsets | Log


@dataclass(frozen=True)
class StartFetchers:
    """Let the application fetch from these offsets on."""

    start: dict[Partition, int]


@dataclass(frozen=True)
class StopFetchers:
    """Let the application stop fetching."""


ConsumerAction = Connect | Transmit | Disconnect | StartFetchers | StopFetchers | Log
