"""Writes a connection to a capture and to live streams."""

from __future__ import annotations

from collections.abc import Sequence

from barnabas.captures.files.pcapng import Buffer
from barnabas.captures.host_port import Endpoint
from barnabas.captures.writing.flow_writer import Comment, Cut, FlowWriter
from barnabas.specs.frames import Direction


def tee(flows: Sequence[FlowWriter]) -> FlowWriter | Tee:
    """Flows as one; there is one at least."""
    first, *others = flows
    return Tee(first, tee(others)) if others else first


class Tee:
    """As FlowWriter, of two: each begins anew, and loses, by itself."""

    def __init__(self, one: FlowWriter, other: FlowWriter | Tee) -> None:
        self._one = one
        self._other = other

    def upstream(self, local: Endpoint, broker: Endpoint) -> None:
        """The addresses of the connection to the broker, before anything has left."""
        self._one.upstream(local, broker)
        self._other.upstream(local, broker)

    @property
    def behind(self) -> bool:
        """Whether another segment of either has begun since its last packet."""
        return self._one.behind or self._other.behind

    def go_on(self, ts_ns: int, standing: Comment) -> None:
        """What is known of the connection before its first bytes in another segment."""
        for flow in (self._one, self._other):
            if flow.behind:
                flow.go_on(ts_ns, standing)

    def arrived(
        self, direction: Direction, data: Buffer, ts_ns: int, cuts: Sequence[Cut] = ()
    ) -> None:
        """A chunk as it came. A packet ends at every cut, and bears its comment."""
        self._one.arrived(direction, data, ts_ns, cuts)
        self._other.arrived(direction, data, ts_ns, cuts)

    def left(self, direction: Direction, data: Buffer, ts_ns: int, *comments: Comment) -> None:
        """A frame that left otherwise than it came."""
        self._one.left(direction, data, ts_ns, *comments)
        self._other.left(direction, data, ts_ns, *comments)

    def close(self, ts_ns: int, reset: bool = False) -> None:
        """The connection is closed."""
        self._one.close(ts_ns, reset)
        self._other.close(ts_ns, reset)
