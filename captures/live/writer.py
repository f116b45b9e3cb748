"""Write connections and notes into a ring, as captures have them."""

from __future__ import annotations

from barnabas.captures.host_port import Endpoint
from barnabas.captures.writing.block_sink import BlockSink
from barnabas.captures.writing.flow_writer import Comment, FlowWriter, encode
from barnabas.captures.writing.pcapng import statistics


class RingWriter:
    """The writer of one process; all methods are for one thread. `sink` is the sink of its ring."""

    def __init__(self, sink: BlockSink) -> None:
        self.sink = sink

    def open(
        self, connection: int, client: Endpoint, server: Endpoint, ts_ns: int, comment: Comment
    ) -> FlowWriter:
        """Begin an accepted connection. Raises OSError if an address is not numeric."""
        return FlowWriter(self.sink, connection, client, server, ts_ns, comment)

    def note(self, ts_ns: int, comment: Comment) -> bool:
        """Write a note on the whole stream; False if it is lost."""
        return self.sink.put([statistics(ts_ns, encode(comment))], 0, 0)
