"""Write a connection to a capture and to live streams."""

from __future__ import annotations

from collections.abc import Sequence

from barnabas.captures.files.pcapng import Buffer
from barnabas.captures.host_port import Endpoint
from barnabas.captures.writing.flow_writer import Comment, Cut, FlowWriter
from barnabas.specs.frames import Direction


def tee(flows: Sequence[FlowWriter]) -> FlowWriter | Tee:
    """Combine one or more flows into one."""
    first, *others = flows
    return Tee(first, tee(others)) if others else first


class Tee:
    """Two FlowWriters as one: each has its own segments and losses."""

    def __init__(self, first: FlowWriter, other: FlowWriter | Tee) -> None:
        self._first = first
        self._other = other

    def upstream(self, local: Endpoint, broker: Endpoint) -> None:
        """Set the addresses of the connection to the broker, before any frame leaves."""
        self._first.upstream(local, broker)
        self._other.upstream(local, broker)

    @property
    def behind(self) -> bool:
        """Return whether another segment of either flow has begun since its last packet."""
        return self._first.behind or self._other.behind

    def go_on(self, ts_ns: int, standing: Comment) -> None:
        """Introduce the connection in another segment, with its state."""
        for flow in (self._first, self._other):
            if flow.behind:
                flow.go_on(ts_ns, standing)

    def arrived(
        self, direction: Direction, data: Buffer, ts_ns: int, cuts: Sequence[Cut] = ()
    ) -> None:
        """Write a chunk as it arrived. A packet ends at every cut, and has its comment."""
        self._first.arrived(direction, data, ts_ns, cuts)
        self._other.arrived(direction, data, ts_ns, cuts)

    def left(self, direction: Direction, data: Buffer, ts_ns: int, *comments: Comment) -> None:
        """Write a frame that left changed or delayed."""
        self._first.left(direction, data, ts_ns, *comments)
        self._other.left(direction, data, ts_ns, *comments)

    def close(self, ts_ns: int, reset: bool = False) -> None:
        """Write the end of the connection."""
        self._first.close(ts_ns, reset)
        self._other.close(ts_ns, reset)
