"""One of the two sockets of a connection, which is the source of one direction.

One buffer serves all connections of a loop: a chunk is read into it, handed on, and the buffer is used again.
If a peer does not take the whole chunk, its transport still refers to the buffer. Then that peer's sender is
not read from, and the loop uses another buffer until the first one is free.
"""

from __future__ import annotations

import asyncio
import ssl
from time import monotonic_ns
from typing import TYPE_CHECKING, Protocol, cast

from barnabas.proxy.connection.actions import NOTHING, PASS, Actions, Cut, Hide
from barnabas.proxy.connection.connection import Connection
from barnabas.proxy.network.clock import EPOCH, clock
from barnabas.proxy.network.read_buffers import OneFrame, ReadBuffers
from barnabas.proxy.network.tls import reason
from barnabas.specs.frames import Direction

if TYPE_CHECKING:
    from barnabas.captures.writing.masked_flow import MaskedFlow


class Owner(Protocol):
    """The owner of both endpoints of a connection, see `barnabas.proxy.network.relay`."""

    connection: Connection
    buffers: ReadBuffers
    flow: MaskedFlow | None
    throttled: bool

    def certified(self, certificate: bytes) -> None:
        """Take note of the client's verified certificate (DER)."""

    def say(self, text: str, /) -> None:
        """Report a line to the person."""

    def introduce(self, now: int) -> None:
        """Report to the capture what is under way."""

    def perform(self, actions: Actions, now: int) -> None:
        """Carry out what the connection asks for."""

    def update_reading(self) -> None:
        """Start or stop reading from both endpoints."""

    def ended(self, direction: Direction) -> None:
        """Note that the sender of a direction has ended it, or is gone."""

    def close(self, reset: bool = False) -> None:
        """Close both endpoints."""


class Endpoint(asyncio.BufferedProtocol):
    """The socket of one side of a connection."""

    transport: asyncio.Transport
    peer: Endpoint

    def __init__(self, relay: Owner, direction: Direction) -> None:
        self.relay = relay
        self.direction: Direction = direction
        self.buffers: ReadBuffers | OneFrame = relay.buffers
        self.clogged = False
        """Whether the socket takes bytes more slowly than they are written."""
        self.kept: memoryview | None = None
        """The buffer that this socket's transport may still refer to."""
        self.open = False
        self.ended = False
        """Whether the peer sends no more: the socket is not read from again."""
        self.finished = False
        """Whether no more bytes will be sent to the peer."""
        self.tls = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connected socket; its transport never buffers silently."""
        # uvloop's transport is not a subclass
        self.transport = cast("asyncio.Transport", transport)
        tls = self.transport.get_extra_info("ssl_object")
        self.tls = tls is not None
        # TLS transports pause at the limit, not above it: with 0 they would never resume
        self.transport.set_write_buffer_limits(high=1 if self.tls else 0, low=0)
        self.open = True
        if self.tls and self.direction == "request" and (certificate := tls.getpeercert(True)):
            self.relay.certified(certificate)

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return the buffer to read into."""
        return self.buffers.current

    def buffer_updated(self, nbytes: int) -> None:
        """Pass the chunk that was read to the connection, and carry out its actions."""
        relay = self.relay
        data = self.buffers.current[:nbytes]
        now = EPOCH + monotonic_ns()  # `clock`, without the call
        if relay.flow is not None and relay.flow.behind:
            relay.introduce(now)
        actions = relay.connection.receive(self.direction, data, now)
        if actions is PASS:
            peer = self.peer
            peer.transport.write(data)
            if (
                relay.flow is not None
            ):  # after the write, so that the chunk does not wait for the capture
                relay.flow.arrived(self.direction, data, now)
            if peer.clogged:
                peer.kept = self.buffers.keep()
                self.transport.pause_reading()
            if relay.throttled:
                relay.update_reading()
            return
        if relay.flow is not None:
            cuts = [(a.offset, a.comment) for a in actions if isinstance(a, Cut)]
            hidden = [a.frame for a in actions if isinstance(a, Hide)]
            if actions is NOTHING:
                relay.flow.unread(self.direction, nbytes, now)
            else:
                rest = relay.connection.undecided(self.direction)
                relay.flow.took(self.direction, data, now, cuts, hidden, rest)
        relay.perform(actions, now)
        if self.peer.clogged and self.peer.kept is None:
            self.peer.kept = self.buffers.keep()
        relay.update_reading()

    def eof_received(self) -> bool:
        """End the direction; return whether the other direction stays open."""
        if not self.ended:
            self.ended = True
            self.relay.ended(self.direction)
            now = clock()
            self.relay.perform(self.relay.connection.receive_eof(self.direction, now), now)
            self.relay.update_reading()
        return not self.tls  # TLS has no half-close: all that the peer sent has arrived

    def pause_writing(self) -> None:
        """Stop reading from the other endpoint: this socket has not taken all bytes."""
        self.clogged = True

    def resume_writing(self) -> None:
        """Read from the other endpoint again: this socket has taken all bytes."""
        self.clogged = False
        if self.kept is not None:
            self.buffers.release(self.kept)
            self.kept = None
        self.relay.update_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """Close the connection, since this socket is closed."""
        self.open = False
        if isinstance(exc, ssl.SSLError):
            side = "client" if self.direction == "request" else "broker"
            self.relay.say(f"TLS: the {side} ended it: {reason(exc)}")
        self.relay.ended(self.direction)
        self.relay.close(reset=isinstance(exc, ConnectionError))
