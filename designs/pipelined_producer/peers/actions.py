"""What the event loop wants done, in order. Nodes are broker ids, and METADATA for its own connection."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum
from typing import Final, NamedTuple

from barnabas.designs.leaders import Address
from barnabas.designs.pipelined_producer.peers.event import Outcome

METADATA: Final = -1
"""The connection on which metadata are asked for: an answer there waits behind no Produce."""


class Connect(NamedTuple):
    """Open a connection; say `connected` or `lost` in a later turn."""

    node: int
    address: Address


class Write(NamedTuple):
    """Send as much of these bytes as the socket takes, and tell `Loop.wrote` how many that were."""

    node: int
    data: memoryview


class Close(NamedTuple):
    """Close a connection; nothing more is said of it."""

    node: int


class Report(NamedTuple):
    """Tell whoever sent it what became of an event, and `Intake.over` that there is room again."""

    outcome: Outcome


Action = Connect | Write | Close | Report


class Select(Enum):
    """The two times in a round when the loop asks which sockets can be used."""

    READABLE = "select readable keys"
    WRITABLE = "select writable keys"


class Heard(NamedTuple):
    """What selecting readable keys found: bytes that came, and connections that ended."""

    arrived: Mapping[int, bytes]
    lost: Collection[int]


class Takes(NamedTuple):
    """What selecting writable keys found: who takes bytes, and connections that are there now."""

    writable: set[int]
    connected: Collection[int]
