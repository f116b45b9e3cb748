"""Writes the live stream: connections as a capture has them, notes, and lines for the person."""

from __future__ import annotations

from collections.abc import Callable

from barnabas.captures.host_port import Endpoint
from barnabas.captures.live.ring import Ring
from barnabas.captures.live.sink import RingSink
from barnabas.captures.writing.flow_writer import Comment, FlowWriter, encode
from barnabas.captures.writing.pcapng import statistics
from barnabas.captures.writing.writer import head


class LiveWriter:
    """The stream of one proxy; all methods are for one thread. meta: what each segment says of itself.

    low: see `RingSink`.
    """

    def __init__(self, ring: Ring, meta: Comment, low: Callable[[], None] = lambda: None) -> None:
        self.sink = RingSink(ring, lambda: head(meta), low)

    def open(
        self, connection: int, client: Endpoint, server: Endpoint, ts_ns: int, comment: Comment
    ) -> FlowWriter:
        """A connection was accepted. Raises OSError if an address is not a numeric one."""
        return FlowWriter(self.sink, connection, client, server, ts_ns, comment)

    def note(self, ts_ns: int, comment: Comment) -> bool:
        """Something that concerns no connection; False if it is lost."""
        return self.sink.put([statistics(ts_ns, encode(comment))], 0, 0)
