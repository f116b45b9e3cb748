"""Moves the bytes of one connection between two endpoints; the connection makes all decisions."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.sasl import name_of_user
from barnabas.proxy.connection.actions import Abort, Actions, Departure, Done, Finish, Say, Send
from barnabas.proxy.connection.connection import Connection
from barnabas.proxy.connection.snapshot import snapshot
from barnabas.proxy.connection.state import Phase
from barnabas.proxy.network.clock import clock
from barnabas.proxy.network.endpoint import Endpoint
from barnabas.proxy.network.principal import principal
from barnabas.proxy.network.read_buffers import OneFrame, ReadBuffers
from barnabas.proxy.network.tcp_info import received
from barnabas.proxy.network.timer import Timer
from barnabas.proxy.network.tls import HANDSHAKE, handshake
from barnabas.proxy.rules.plan import Plan
from barnabas.proxy.rules.rules import Decision
from barnabas.specs.frames import Direction

if TYPE_CHECKING:
    from barnabas.captures.writing.masked_flow import MaskedFlow


Layer = Callable[[Endpoint], asyncio.BaseProtocol]
"""Returns the protocol for an endpoint's transport: the endpoint, or a layer in between."""


def no_layer(endpoint: Endpoint) -> asyncio.BaseProtocol:
    """Return the endpoint itself: no layer is between it and its socket."""
    return endpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """The objects that all relays of a proxy share, and the functions that they call."""

    loop: asyncio.AbstractEventLoop
    buffers: ReadBuffers
    layer: Layer = no_layer
    """Returns the layer between an endpoint and its socket."""
    done: Callable[[Exchange], None]
    """Receives each exchange that is over."""
    say: Callable[[str], None]
    """Receives lines for the person who runs the proxy."""
    ready: Callable[[], None]
    """Called after actions that may have released frames of other connections."""
    over: Callable[[Relay], None]
    """Called when the connection is closed."""


class Relay:
    """The two endpoints of a connection, and its timer."""

    def __init__(self, connection: Connection, flow: MaskedFlow | None, hooks: Hooks) -> None:
        self.connection = connection
        self.flow = flow
        self.hooks = hooks
        self.buffers = hooks.buffers
        self.say = hooks.say
        self._timer = Timer(hooks.loop, clock, self.tick)
        self._closed = False
        self.greeted = False
        """Whether the client's TLS handshake has begun."""
        self._ended_by: Direction | None = None
        """The direction whose sender ended it first."""
        self._cut_short = False
        """Whether a frame was under way when a direction ended."""
        self.paused = False
        self.waits = False
        """Whether no endpoint is read from until the log has caught up."""
        self._received = 0, 0
        self.throttled = False
        """Whether an endpoint is not read from because enough of its bytes wait, or may not be because the
        connection is paused."""
        self.client = Endpoint(self, "request")
        self.broker = Endpoint(self, "response")
        self.client.peer, self.broker.peer = self.broker, self.client

    async def attach(
        self,
        client: socket.socket,
        broker: socket.socket,
        client_tls: ssl.SSLContext | None = None,
        broker_tls: tuple[ssl.SSLContext, str] | None = None,
    ) -> None:
        """Attach the sockets of the client and of the broker, and start to read.

        With TLS, `client_tls` is the context for the client; `broker_tls` is the context for the broker and
        the name that it must have.

        Raises:
            TlsError: A TLS handshake fails.
            OSError: The sockets cannot be used.
        """
        for sock in (client, broker):  # as Kafka's clients and brokers do (Selector, SocketServer)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        context, name = broker_tls or (None, None)
        with handshake("to the broker", context):
            await self.hooks.loop.create_connection(
                lambda: self.hooks.layer(self.broker),
                sock=broker,
                ssl=context,
                server_hostname=name,
                ssl_handshake_timeout=HANDSHAKE if context else None,
            )
        self.greeted = True
        with handshake("with the client", client_tls):
            await self.hooks.loop.connect_accepted_socket(
                lambda: self.hooks.layer(self.client),
                client,
                ssl=client_tls,
                ssl_handshake_timeout=HANDSHAKE if client_tls else None,
            )
        # a broker with too many connections closes new ones at once, perhaps before the client's endpoint
        # was connected
        if self._closed:
            self.client.transport.abort()
        elif self.client.finished:
            self._half_close(self.client)
        elif self.paused or self.waits:
            self.update_reading()

    def certified(self, certificate: bytes) -> None:
        """Set the user of the client's certificate (DER); the capture has it before the first request."""
        user = self.connection.state.certified = name_of_user(principal(certificate))
        if self.flow is not None and user is not None and not self._closed:
            comment = {"frame": 0, "user": user}
            self.flow.took("request", memoryview(b""), clock(), [(0, comment)], (), 0)

    def perform(self, actions: Actions, now: int) -> None:
        """Carry out what the connection asks for. Ends of directions come last: they may end all."""
        finished: list[Endpoint] = []
        for action in actions:
            if isinstance(action, Send):
                endpoint = self._receiver(action.direction)
                if endpoint.open:
                    endpoint.transport.write(action.data)
            elif isinstance(action, Done):
                action.exchange.ended = now
                self.hooks.done(action.exchange)
            elif isinstance(action, Departure) and self.flow is not None:
                direction, data, comment, key, version = action
                self.flow.left(direction, data, now, comment, key, version)
            elif isinstance(action, Finish):
                finished.append(self._receiver(action.direction))
            elif isinstance(action, Say):
                self.say(action.text)
            elif isinstance(action, Abort):
                self.close(action.reset)
        for endpoint in finished:
            self._half_close(endpoint)
        self.hooks.ready()

    def _receiver(self, direction: Direction) -> Endpoint:
        return self.broker if direction == "request" else self.client

    def _half_close(self, endpoint: Endpoint) -> None:
        """End the direction to this endpoint, or close the connection if both directions have ended.

        The connection is closed, too, if no request waits for a response: a peer that has vanished would
        never close it. For another protocol this is unknown, and TLS cannot signal the end alone.
        """
        endpoint.finished = True
        untold = self.connection.state.phase is Phase.FOREIGN and endpoint.tls
        if endpoint.peer.finished or self.connection.idle or untold:
            self.close()
        elif endpoint.open and endpoint.transport.can_write_eof():  # TLS has no half-close
            with contextlib.suppress(OSError, RuntimeError):
                endpoint.transport.write_eof()

    def update_reading(self) -> None:
        """Decide after any change which endpoint is read from, and when to wake up."""
        if self._closed:
            return
        self.connection.actions.begin()  # or the buffer would retain departed frames
        self.throttled = self.paused or self.waits
        for endpoint in (self.client, self.broker):
            if not endpoint.open:
                continue
            full = self.connection.full(endpoint.direction)
            self.throttled |= full
            if endpoint.ended:  # a read would only return the end again
                continue
            if endpoint.peer.clogged or full or self.waits or self._is_resting(endpoint):
                endpoint.transport.pause_reading()
            elif not endpoint.transport.is_reading():
                endpoint.transport.resume_reading()
        self._timer.set(self.connection.wake)

    def introduce(self, now: int) -> None:
        """Report to a new segment of the capture what is under way."""
        if self.flow is not None:
            self.flow.go_on(now, partial(snapshot, self.connection))

    def tick(self) -> None:
        """Let the connection act on the time, or on a message that has passed on another connection."""
        if not self._closed:
            self._call(self.connection.tick)

    def _call(self, method: Callable[[int], Actions]) -> None:
        now = clock()
        self.perform(method(now), now)
        self.update_reading()

    def replace(self, plan: Plan) -> None:
        """Continue under other rules."""
        self._call(partial(self.connection.replace, plan))

    def release(self, rule: str) -> None:
        """Release the frames that a rule holds."""
        self._call(partial(self.connection.release, rule))

    def decide(self, id: str, decision: Decision) -> None:
        """Apply a decision to a message that waits at a breakpoint here.

        Raises:
            LookupError: No message with this id waits (any longer).
        """
        self._call(partial(self.connection.decide, id, decision))

    def pause(self) -> None:
        """Stop reading from both endpoints. Frames that were read still leave, if no rule holds them."""
        self.paused = True
        self.update_reading()

    def step(self, direction: Direction) -> None:
        """Read the next frame of this direction, and no more, while paused."""
        endpoint = self.client if direction == "request" else self.broker
        endpoint.buffers = OneFrame(self.buffers, self.connection.state.ingress[direction])
        self.update_reading()

    def resume(self) -> None:
        """Read from both sides again."""
        self.paused = False
        self.client.buffers = self.broker.buffers = self.buffers
        self.update_reading()

    def _is_resting(self, endpoint: Endpoint) -> bool:
        """Return whether an endpoint is paused and has no step to make."""
        if not self.paused:
            return False
        step = endpoint.buffers
        if isinstance(step, OneFrame) and not step.done:
            return False
        endpoint.buffers = self.buffers
        return True

    def received(self) -> tuple[int, int]:
        """Return the bytes that came from the client and from the broker."""
        if self._closed:
            return self._received
        client, broker = (
            received(endpoint.transport.get_extra_info("socket")) if endpoint.open else 0
            for endpoint in (self.client, self.broker)
        )
        return client, broker

    def ended(self, direction: Direction) -> None:
        """Note that the sender of a direction has ended it, or is gone."""
        self._ended_by = self._ended_by or direction
        self._cut_short |= not all(
            ingress.between for ingress in self.connection.state.ingress.values()
        )

    def close(self, reset: bool = False) -> None:
        """Close both sides at once, and account for what was under way."""
        if self._closed:
            return
        self._received = self.received()
        self._closed = True
        self._timer.set(None)
        now = clock()
        if self.flow is not None and self.flow.behind:
            self.introduce(now)
        self.perform(self.connection.closed(now), now)
        for endpoint in (self.client, self.broker):
            if endpoint.open:
                if reset:
                    self._reset_on_close(endpoint)
                    endpoint.transport.abort()
                else:
                    endpoint.transport.close()
        if self.flow is not None:
            self.flow.close(now, reset=reset, by=self._ended_by if self._cut_short else None)
        self.hooks.over(self)

    @property
    def open(self) -> bool:
        """Return whether a socket is still open; after `close` it may have bytes to send."""
        return self.client.open or self.broker.open

    def abort(self) -> None:
        """Close the sockets that are still open, and discard their unsent bytes."""
        for endpoint in (self.client, self.broker):
            if endpoint.open:
                endpoint.transport.abort()

    @staticmethod
    def _reset_on_close(endpoint: Endpoint) -> None:
        """Let the socket send an RST when it is closed: a reset is passed on as a reset."""
        sock = endpoint.transport.get_extra_info("socket")
        if sock is not None:
            with contextlib.suppress(OSError):
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
