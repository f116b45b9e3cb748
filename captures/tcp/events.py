"""The events of a capture, in order: connections, and the bytes of their flows with their comments."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from barnabas.captures.tcp.bytes_needed import NEVER_SAID, Needs
from barnabas.specs.frames import Direction

FlowName = Literal["arrived", "left"]


class Opened(NamedTuple):
    """A connection begins: both ends as ip:port, and what the writer said of it ({}: nothing)."""

    connection: int
    ts_ns: int
    client: str
    server: str
    comment: dict[str, Any]
    whole: bool = True
    """Whether the capture has its beginning."""
    needs: Needs = NEVER_SAID
    """Here the reader says what it waits for; it need not."""


class Linked(NamedTuple):
    """The linked flow of a connection: the proxy's address, the broker's, and what was said of it."""

    local: tuple[str, int]
    broker: tuple[str, int]
    comment: dict[str, Any]


class Chunk(NamedTuple):
    """Bytes of one direction, in order; the comments stand behind the last of them.

    `flow` is "arrived" for what came to the proxy, "left" for what it sent on otherwise. A comment
    of others is {"text": ...}. The data may be empty if there are comments.
    """

    connection: int
    flow: FlowName
    direction: Direction
    ts_ns: int
    data: bytes
    comments: tuple[dict[str, Any], ...]
    packet: int = 0
    """Number of the packet that brought it, from 1, as Wireshark numbers them."""


class Lost(NamedTuple):
    """Bytes that the file does not have, before the next chunk of this direction; 0: nobody knows
    how many, since the connection began before the capture. Of connection 0: a segment of the
    capture is missing."""

    connection: int
    flow: FlowName
    direction: Direction
    ts_ns: int
    bytes: int


class Closed(NamedTuple):
    """A connection is closed."""

    connection: int
    ts_ns: int
    reset: bool
    by: Direction | None = None
    """The direction whose sender ended it first; None: not known."""


class Note(NamedTuple):
    """A remark on the whole capture: a scenario loaded again; what the writer lost."""

    ts_ns: int
    comment: dict[str, Any]


Event = Opened | Chunk | Lost | Closed
