"""Actions of the event loop, and results of selecting. Nodes: broker ids, and `links.METADATA`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum
from typing import NamedTuple

from barnabas.designs.leaders import Address
from barnabas.designs.pipelined_producer.peers.event import Outcome


class Connect(NamedTuple):
    """Open a connection; a later turn reports it as connected or lost."""

    node: int
    address: Address


class Write(NamedTuple):
    """Send as many of these bytes as the socket takes, and pass their number to `Loop.wrote`."""

    node: int
    data: memoryview


class Close(NamedTuple):
    """Close a connection; no turn reports it any more."""

    node: int


class Report(NamedTuple):
    """Report the outcome to the event's sender, and call `Intake.over`: there is room again."""

    outcome: Outcome


Action = Connect | Write | Close | Report


class Select(Enum):
    """The two steps of a round that ask which sockets can be used."""

    READABLE = "select readable keys"
    WRITABLE = "select writable keys"


class ReadResult(NamedTuple):
    """The result of selecting readable keys: received bytes, and lost connections."""

    arrived: Mapping[int, bytes]
    lost: Collection[int]


class WriteResult(NamedTuple):
    """The result of selecting writable keys: nodes that take bytes, and new connections."""

    writable: set[int]
    connected: Collection[int]
