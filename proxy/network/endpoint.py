"""One of the two sockets of a connection, which is where one direction comes from.

One buffer serves all connections of a loop: it is read into, handed on and reused at once. Only if a
peer does not take everything does its transport still refer to it; then that peer's sender stops
reading, and the loop goes on with another buffer until the first is free.
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
    """What has both endpoints of a connection, see `barnabas.proxy.network.relay`."""

    connection: Connection
    buffers: ReadBuffers
    flow: MaskedFlow | None
    throttled: bool

    def certified(self, certificate: bytes) -> None:
        """The client has shown a certificate (DER) by the CA that it must have it from."""

    def say(self, text: str, /) -> None:
        """Tell the person."""

    def introduce(self, now: int) -> None:
        """Tell the capture what is under way."""

    def perform(self, actions: Actions, now: int) -> None:
        """Carry out what the connection asks for."""

    def update_reading(self) -> None:
        """See who may be read from."""

    def ended(self, direction: Direction) -> None:
        """Note that the sender of a direction has ended it, or is gone."""

    def close(self, reset: bool = False) -> None:
        """Close both endpoints."""


class Endpoint(asyncio.BufferedProtocol):
    """One of the two sockets of a connection."""

    transport: asyncio.Transport
    peer: Endpoint

    def __init__(self, relay: Owner, direction: Direction) -> None:
        self.relay = relay
        self.direction: Direction = direction
        self.buffers: ReadBuffers | OneFrame = relay.buffers
        self.clogged = False
        """Whether this socket does not take what is written to it as fast as it comes."""
        self.kept: memoryview | None = None
        """The buffer that this socket's transport may still refer to."""
        self.open = False
        self.ended = False
        """Whether it sends no more: it is not read from again."""
        self.finished = False
        """Whether nothing more will be sent to it."""
        self.tls = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The socket is ours: never buffer silently in the transport."""
        self.transport = cast("asyncio.Transport", transport)  # uvloop's is no subclass
        tls = self.transport.get_extra_info("ssl_object")
        self.tls = tls is not None
        # TLS transports pause at the limit, not above it: with 0 they would never go on
        self.transport.set_write_buffer_limits(high=1 if self.tls else 0, low=0)
        self.open = True
        if self.tls and self.direction == "request" and (shown := tls.getpeercert(True)):
            self.relay.certified(shown)

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where to read into."""
        return self.buffers.current

    def buffer_updated(self, nbytes: int) -> None:
        """A chunk has come."""
        relay = self.relay
        data = self.buffers.current[:nbytes]
        now = EPOCH + monotonic_ns()  # `clock`, without the call
        if relay.flow is not None and relay.flow.behind:
            relay.introduce(now)
        actions = relay.connection.receive(self.direction, data, now)
        if actions is PASS:
            peer = self.peer
            peer.transport.write(data)
            if relay.flow is not None:  # behind it: it leaves at once, and nobody waits for this
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
        """The peer sends no more; the other direction stays open."""
        if not self.ended:
            self.ended = True
            self.relay.ended(self.direction)
            now = clock()
            self.relay.perform(self.relay.connection.receive_eof(self.direction, now), now)
            self.relay.update_reading()
        return not self.tls  # TLS knows no half that stays open: what it sent is all on its way

    def pause_writing(self) -> None:
        """Something written has not been taken: read no more from the other endpoint."""
        self.clogged = True

    def resume_writing(self) -> None:
        """All written has been taken."""
        self.clogged = False
        if self.kept is not None:
            self.buffers.release(self.kept)
            self.kept = None
        self.relay.update_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is closed: so is the connection."""
        self.open = False
        if isinstance(exc, ssl.SSLError):
            who = "client" if self.direction == "request" else "broker"
            self.relay.say(f"TLS: the {who} ended it: {reason(exc)}")
        self.relay.ended(self.direction)
        self.relay.close(reset=isinstance(exc, ConnectionError))
