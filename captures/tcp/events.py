"""Define the events of a capture, in order: connections, and the bytes of their flows with comments."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from barnabas.captures.tcp.bytes_needed import NO_NEEDS, Needs
from barnabas.specs.frames import Direction

FlowName = Literal["arrived", "left"]


class Opened(NamedTuple):
    """The beginning of a connection: both ends as ip:port, and the writer's comment ({} without one)."""

    connection: int
    ts_ns: int
    client: str
    server: str
    comment: dict[str, Any]
    whole: bool = True
    """Whether the capture has the first bytes of the connection."""
    needs: Needs = NO_NEEDS
    """The reader may set the bytes that it needs here."""
    roles_known: bool = True
    """Whether it is certain which end is the client's: a SYN was captured, or a comment says it."""


class Linked(NamedTuple):
    """The linked flow of a connection: the proxy's address, the broker's address, and the comment."""

    local: tuple[str, int]
    broker: tuple[str, int]
    comment: dict[str, Any]


class Chunk(NamedTuple):
    """Bytes of one direction, in order, followed by the comments on their last byte.

    `flow` is "arrived" for bytes that reached the proxy, and "left" for bytes that the proxy sent on changed,
    delayed or by itself. A comment of another tool is {"text": ...}. `data` may be empty if there are
    comments.
    """

    connection: int
    flow: FlowName
    direction: Direction
    ts_ns: int
    data: bytes
    comments: tuple[dict[str, Any], ...]
    packet: int = 0
    """Number of the packet with the last byte, from 1, as Wireshark numbers packets."""


class Lost(NamedTuple):
    """Bytes that the capture lacks before the next chunk of this direction.

    0 bytes: the count is unknown, since the beginning of the connection was not captured. Connection 0: a
    segment of the capture is missing.
    """

    connection: int
    flow: FlowName
    direction: Direction
    ts_ns: int
    bytes: int


class Closed(NamedTuple):
    """The end of a connection."""

    connection: int
    ts_ns: int
    reset: bool
    by: Direction | None = None
    """The direction whose sender closed first; None: unknown."""


class Note(NamedTuple):
    """A note on the whole capture, such as a reloaded scenario or a loss of the writer."""

    ts_ns: int
    comment: dict[str, Any]


Event = Opened | Chunk | Lost | Closed
