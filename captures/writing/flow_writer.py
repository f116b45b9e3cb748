"""Writes a connection as TCP conversations: the arrived flow, and a linked flow of what left otherwise."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from barnabas.captures.files.pcapng import Buffer
from barnabas.captures.host_port import Endpoint
from barnabas.captures.tcp.events import FlowName
from barnabas.captures.writing.block_sink import Behind, BlockSink
from barnabas.captures.writing.flow_headers import SEGMENT, FlowHeaders, Half
from barnabas.captures.writing.pcapng import comment_option, packet
from barnabas.captures.writing.plain_packet import PlainPacket
from barnabas.specs.frames import Direction

Comment = Mapping[str, Any]
Cut = tuple[int, Comment]
"""(bytes up to the end of a frame, what is known of it)."""

encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).encode


class FlowWriter:
    """A connection that is being written: its arrived flow, and its linked flow once there is one.

    Nothing is copied but what must wait, and the caller's buffers are free again on return.
    """

    def __init__(
        self,
        sink: BlockSink,
        connection: int,
        client: Endpoint,
        server: Endpoint,
        ts_ns: int,
        comment: Comment,
    ) -> None:
        self._connection = connection
        about = {**_link(connection, "arrived"), **comment}
        self._arrived = _Flow(sink, connection, client, server, about)
        self._arrived.open(ts_ns)
        with contextlib.suppress(Behind):  # then it stands before whatever comes first
            self._arrived.put([], 0, 0)
        self._left: _Flow | None = None

    def upstream(self, local: Endpoint, broker: Endpoint, comment: Comment | None = None) -> None:
        """The addresses of the connection to the broker, before anything has left."""
        about = {**_link(self._connection, "left"), **(comment or {})}
        self._left = _Flow(self._arrived.sink, self._connection, local, broker, about)

    @property
    def behind(self) -> bool:
        """Whether another segment has begun since the last packet of the arrived flow."""
        return self._arrived.segment != self._arrived.sink.segment

    def go_on(self, ts_ns: int, standing: Comment) -> None:
        """What is known of the connection before its first bytes in another segment: who reads that
        one alone knows no more. See `barnabas.proxy.connection.snapshot` for what may be said."""
        self._arrived.introduce(ts_ns, standing)

    def arrived(
        self, direction: Direction, data: Buffer, ts_ns: int, cuts: Sequence[Cut] = ()
    ) -> None:
        """A chunk as it came. A packet ends at every cut, and bears its comment."""
        self._arrived.send(direction, data, ts_ns, cuts)

    def left(self, direction: Direction, data: Buffer, ts_ns: int, *comments: Comment) -> None:
        """A frame that left otherwise than it came. Raises RuntimeError before `upstream`."""
        cuts = [(len(data), comment) for comment in comments]
        self._linked(ts_ns).send(direction, data, ts_ns, cuts)

    def missing(self, flow: FlowName, direction: Direction, size: int, ts_ns: int) -> None:
        """So many bytes are not known that came before the next: they stay a gap in the numbers."""
        (self._arrived if flow == "arrived" else self._linked(ts_ns)).skip(direction, size)

    def _linked(self, ts_ns: int) -> _Flow:
        flow = self._left
        if flow is None:
            raise RuntimeError("left before upstream: the linked flow has no addresses")
        if not flow.opened:
            flow.open(ts_ns)
        return flow

    def close(self, ts_ns: int, reset: bool = False) -> None:
        """The connection is closed: a FIN both ways, or an RST. The second time nothing happens."""
        if self._left is not None and self._left.opened:
            self._left.close(ts_ns, reset)
        self._arrived.close(ts_ns, reset)


class _Flow:
    """A synthesised TCP conversation. What is lost leaves a gap in its sequence numbers."""

    def __init__(
        self, sink: BlockSink, connection: int, client: Endpoint, server: Endpoint, about: Comment
    ) -> None:
        self.sink = sink
        self.opened = False
        self.segment = sink.segment
        """The last one that it was introduced in, or is about to be."""
        self._about = about
        # ports are used again: another number tells the conversations apart
        self._headers = headers = FlowHeaders(client, server, connection << 16)
        self._plain = {
            "request": PlainPacket(headers.request),
            "response": PlainPacket(headers.response),
        }
        self._first: list[Buffer] = []
        """Packets that name the flow, until the file takes them: without them the rest has no name."""
        self._begun = False
        """Whether the handshake is in the file, or was lost with what came first: it names no more where
        the flow goes on."""
        self._closed = False
        self._standing: Comment = {}
        """What was said of the connection since its last packet: it holds if yet another segment begins."""
        self._missing: dict[Direction, int] = {}

    def open(self, ts_ns: int) -> None:
        """Make the handshake; it is written before whatever comes first."""
        self.opened = True
        self.segment = self.sink.segment
        options = comment_option(encode(self._about))
        for headers in self._headers.handshake():
            self._first += packet(ts_ns, headers, b"", options)
            options = b""

    def introduce(self, ts_ns: int, standing: Comment | None = None) -> None:
        """Another segment has begun: there the flow is named before whatever comes first."""
        self.segment = self.sink.segment
        if standing is not None:
            self._standing = standing
        if not self._begun:
            return  # the handshake is still to be written, and names it
        ends = [self._headers.request.seq, self._headers.response.seq]
        comment = {**self._about, "goes_on": {"seq": ends, **self._standing}}
        options = comment_option(encode(comment))
        self._first = [*packet(ts_ns, self._headers.request.remark(), b"", options)]

    def send(
        self, direction: Direction, data: Buffer, ts_ns: int, cuts: Sequence[Cut] = ()
    ) -> None:
        """A chunk of one direction, in packets that end at the cuts."""
        size = len(data)
        sink = self.sink
        half = self._headers.request if direction == "request" else self._headers.response
        if sink.losing:
            sink.lose(-(-size // SEGMENT) or 1, size)
            half.skip(size)
            self._begun, self._standing = True, {}
            return
        if self.segment != self.sink.segment:
            self.introduce(ts_ns)
        if self._missing:
            half.skip(self._missing.pop(direction, 0))
        try:
            if size <= SEGMENT and size and not cuts:
                self.put(self._plain[direction].of(ts_ns, data), 1, size)
                return
            buffers: list[Buffer] = []
            for block in _packets(half, memoryview(data), ts_ns, cuts):
                buffers += block
            if buffers:
                self.put(buffers, len(buffers) // 3, size)
        except Behind:
            half.skip(-size)
            self.send(direction, data, ts_ns, cuts)

    def skip(self, direction: Direction, size: int) -> None:
        """Bytes of one direction are missing before its next packet."""
        self._missing[direction] = self._missing.get(direction, 0) + size

    def close(self, ts_ns: int, reset: bool) -> None:
        """Write the end of the conversation, once."""
        if self._closed:
            return
        self._closed = True
        if self.segment != self.sink.segment:
            self.introduce(ts_ns)
        buffers: list[Buffer] = []
        for headers in self._headers.farewell(reset):
            buffers += packet(ts_ns, headers, b"")
        try:
            self.put(buffers, len(buffers) // 3, 0)
        except Behind:
            for half in (self._headers.request, self._headers.response):
                half.skip(0 if reset else -1)  # a FIN counts as a byte
            self._closed = False
            self.close(ts_ns, reset)

    def put(self, buffers: Sequence[Buffer], packets: int, payload: int) -> None:
        """Write packets, and before them those that name the flow, if they are not in the file yet.

        Raises Behind.
        """
        if not self._first:
            self.sink.put(buffers, packets, payload)
            return
        if self.sink.put([*self._first, *buffers], packets + len(self._first) // 3, payload):
            self._first = []
        self._begun = True
        self._standing = {}


def _packets(
    half: Half, data: memoryview, ts_ns: int, cuts: Sequence[Cut]
) -> Iterator[tuple[Buffer, ...]]:
    remarks: dict[int, bytes] = {}
    for end, comment in cuts:
        remarks[end] = remarks.get(end, b"") + comment_option(encode(comment))
    remarks.setdefault(len(data), b"")
    at = 0
    for end, options in sorted(remarks.items()):
        while end - at > SEGMENT:
            yield packet(ts_ns, half.header(SEGMENT), data[at : at + SEGMENT])
            at += SEGMENT
        if end > at:
            yield packet(ts_ns, half.header(end - at), data[at:end], options)
        elif options:
            yield packet(ts_ns, half.remark(), b"", options)
        at = end


def _link(connection: int, flow: Literal["arrived", "left"]) -> Comment:
    return {"barnabas": "flow", "connection": connection, "flow": flow}
