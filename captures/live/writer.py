"""Writes into a ring: connections as a capture has them, notes, and lines for the person."""

from __future__ import annotations

from barnabas.captures.host_port import Endpoint
from barnabas.captures.writing.block_sink import BlockSink
from barnabas.captures.writing.flow_writer import Comment, FlowWriter, encode
from barnabas.captures.writing.pcapng import statistics


class RingWriter:
    """What one process writes; all methods are for one thread. sink: that of its ring."""

    def __init__(self, sink: BlockSink) -> None:
        self.sink = sink

    def open(
        self, connection: int, client: Endpoint, server: Endpoint, ts_ns: int, comment: Comment
    ) -> FlowWriter:
        """A connection was accepted. Raises OSError if an address is not a numeric one."""
        return FlowWriter(self.sink, connection, client, server, ts_ns, comment)

    def note(self, ts_ns: int, comment: Comment) -> bool:
        """Something that concerns no connection; False if it is lost."""
        return self.sink.put([statistics(ts_ns, encode(comment))], 0, 0)
