"""Write a connection as TCP conversations: the arrived flow, and a linked flow of changed frames."""

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
"""Bytes up to the end of a frame, and the comment on the frame."""

encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).encode


class FlowWriter:
    """A writer of one connection: its arrived flow, and its linked flow once there is one.

    Only waiting bytes are copied, and the caller may reuse its buffers on return.
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
        introduction = {**_link(connection, "arrived"), **comment}
        self._arrived = _Flow(sink, connection, client, server, introduction)
        self._arrived.open(ts_ns)
        with contextlib.suppress(Behind):  # then the introduction precedes the first bytes
            self._arrived.put([], 0, 0)
        self._left: _Flow | None = None

    def upstream(self, local: Endpoint, broker: Endpoint, comment: Comment | None = None) -> None:
        """Set the addresses of the connection to the broker, before any frame leaves."""
        introduction = {**_link(self._connection, "left"), **(comment or {})}
        self._left = _Flow(self._arrived.sink, self._connection, local, broker, introduction)

    @property
    def behind(self) -> bool:
        """Return whether another segment has begun since the last packet of the arrived flow."""
        return self._arrived.segment != self._arrived.sink.segment

    def go_on(self, ts_ns: int, standing: Comment) -> None:
        """Introduce the connection in another segment, with its state for readers of that segment alone.

        See `barnabas.proxy.connection.snapshot` for the state.
        """
        self._arrived.introduce(ts_ns, standing)

    def arrived(
        self, direction: Direction, data: Buffer, ts_ns: int, cuts: Sequence[Cut] = ()
    ) -> None:
        """Write a chunk as it arrived. A packet ends at every cut, and has its comment."""
        self._arrived.send(direction, data, ts_ns, cuts)

    def left(self, direction: Direction, data: Buffer, ts_ns: int, *comments: Comment) -> None:
        """Write a frame that left changed or delayed. Raises RuntimeError before `upstream`."""
        cuts = [(len(data), comment) for comment in comments]
        self._linked(ts_ns).send(direction, data, ts_ns, cuts)

    def missing(self, flow: FlowName, direction: Direction, size: int, ts_ns: int) -> None:
        """Leave a gap of unknown bytes before the next ones."""
        (self._arrived if flow == "arrived" else self._linked(ts_ns)).skip(direction, size)

    def _linked(self, ts_ns: int) -> _Flow:
        flow = self._left
        if flow is None:
            raise RuntimeError("left before upstream: the linked flow has no addresses")
        if not flow.opened:
            flow.open(ts_ns)
        return flow

    def close(self, ts_ns: int, reset: bool = False) -> None:
        """Write the end of the connection, once: a FIN both ways, or an RST."""
        if self._left is not None and self._left.opened:
            self._left.close(ts_ns, reset)
        self._arrived.close(ts_ns, reset)


class _Flow:
    """A synthesised TCP conversation. Lost packets leave a gap in its sequence numbers."""

    def __init__(
        self,
        sink: BlockSink,
        connection: int,
        client: Endpoint,
        server: Endpoint,
        introduction: Comment,
    ) -> None:
        self.sink = sink
        self.opened = False
        self.segment = sink.segment
        """The segment in which the flow was introduced last, or is about to be."""
        self._introduction = introduction
        # ports are reused: another initial sequence number distinguishes the conversations
        self._headers = headers = FlowHeaders(client, server, connection << 16)
        self._plain = {
            "request": PlainPacket(headers.request),
            "response": PlainPacket(headers.response),
        }
        self._first: list[Buffer] = []
        """Packets that introduce the flow, until the file has them: without them the flow has no name."""
        self._started = False
        """Whether the handshake was written, or lost with the first bytes: then a later segment needs an
        introduction."""
        self._closed = False
        self._standing: Comment = {}
        """The state of the connection since its last packet: still valid if yet another segment begins."""
        self._missing: dict[Direction, int] = {}

    def open(self, ts_ns: int) -> None:
        """Make the handshake; it is written before the first bytes."""
        self.opened = True
        self.segment = self.sink.segment
        options = comment_option(encode(self._introduction))
        for headers in self._headers.handshake():
            self._first += packet(ts_ns, headers, b"", options)
            options = b""

    def introduce(self, ts_ns: int, standing: Comment | None = None) -> None:
        """Introduce the flow in a new segment, before its next bytes."""
        self.segment = self.sink.segment
        if standing is not None:
            self._standing = standing
        if not self._started:
            return  # the waiting handshake introduces the flow
        ends = [self._headers.request.seq, self._headers.response.seq]
        comment = {**self._introduction, "goes_on": {"seq": ends, **self._standing}}
        options = comment_option(encode(comment))
        self._first = [*packet(ts_ns, self._headers.request.remark(), b"", options)]

    def send(
        self, direction: Direction, data: Buffer, ts_ns: int, cuts: Sequence[Cut] = ()
    ) -> None:
        """Write a chunk of one direction, in packets that end at the cuts."""
        size = len(data)
        sink = self.sink
        half = self._headers.request if direction == "request" else self._headers.response
        if sink.losing:
            sink.lose(-(-size // SEGMENT) or 1, size)
            half.skip(size)
            self._started, self._standing = True, {}
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
        """Leave a gap before the next packet of a direction."""
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
        """Write packets, after those that introduce the flow if the file does not have them yet.

        Raises Behind.
        """
        if not self._first:
            self.sink.put(buffers, packets, payload)
            return
        if self.sink.put([*self._first, *buffers], packets + len(self._first) // 3, payload):
            self._first = []
        self._started = True
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
