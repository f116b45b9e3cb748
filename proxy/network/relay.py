"""Moves the bytes of one connection between two endpoints; all decisions are the connection's."""

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
from barnabas.proxy.connection.actions import Abort, Actions, Done, Finish, Left, Say, Send
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
"""What an endpoint's transport has for its protocol: the endpoint, or something in between."""


def no_layer(endpoint: Endpoint) -> asyncio.BaseProtocol:
    """Nothing in between."""
    return endpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """What all relays of a proxy share, and whom they call."""

    loop: asyncio.AbstractEventLoop
    buffers: ReadBuffers
    layer: Layer = no_layer
    """What lies between an endpoint and its socket."""
    done: Callable[[Exchange], None]
    """Receives each exchange that is over."""
    say: Callable[[str], None]
    """Receives lines for the person who runs the proxy."""
    ready: Callable[[], None]
    """Called after actions that may have released frames of other connections."""
    over: Callable[[Relay], None]
    """Called when the connection is closed."""


class Relay:
    """The two endpoints of a connection and its timer."""

    def __init__(self, connection: Connection, flow: MaskedFlow | None, hooks: Hooks) -> None:
        self.connection = connection
        self.flow = flow
        self.hooks = hooks
        self.buffers = hooks.buffers
        self.say = hooks.say
        self._timer = Timer(hooks.loop, clock, self.tick)
        self._closed = False
        self.greeted = False
        """Whether the client's handshake has begun, if TLS is spoken."""
        self._ended_by: Direction | None = None
        """The direction whose sender ended it first."""
        self._cut_short = False
        """Whether a frame was under way when a direction ended."""
        self.paused = False
        self.waits = False
        """Whether nothing is read until the log has caught up."""
        self._received = 0, 0
        self.throttled = False
        """Whether an endpoint is not read from because too much of what it sent waits already, or may
        not be because the connection is paused."""
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
        """Begin: the broker is reached, so what the client has sent meanwhile can be read.

        With TLS: the context for the client; that for the broker, with the name it is to have.
        Raises TlsError if a handshake fails, or another OSError.
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
        # a broker with too many connections closes new ones at once: perhaps before the client's
        # endpoint was there to be told
        if self._closed:
            self.client.transport.abort()
        elif self.client.finished:
            self._half_close(self.client)
        elif self.paused or self.waits:
            self.update_reading()

    def certified(self, certificate: bytes) -> None:
        """The client has shown a certificate (DER): the capture hears of it before its first request."""
        user = self.connection.state.certified = name_of_user(principal(certificate))
        if self.flow is not None and user is not None and not self._closed:
            said = {"frame": 0, "user": user}
            self.flow.took("request", memoryview(b""), clock(), [(0, said)], (), 0)

    def perform(self, actions: Actions, now: int) -> None:
        """Carry out what the connection asks for; what ends a direction may end all, so it comes last."""
        finished: list[Endpoint] = []
        for action in actions:
            if isinstance(action, Send):
                endpoint = self._receiver(action.direction)
                if endpoint.open:
                    endpoint.transport.write(action.data)
            elif isinstance(action, Done):
                action.exchange.ended = now
                self.hooks.done(action.exchange)
            elif isinstance(action, Left) and self.flow is not None:
                way, data, comment, key, version = action
                self.flow.left(way, data, now, comment, key, version)
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
        """Nothing more will be sent to this endpoint; if that holds for both, the connection is over.

        It is over as well if nobody waits for anything: a peer that has vanished would never say so. Of what
        is not Kafka that is not known, and TLS could not tell the end alone.
        """
        endpoint.finished = True
        untold = self.connection.state.phase is Phase.FOREIGN and endpoint.tls
        if endpoint.peer.finished or self.connection.idle or untold:
            self.close()
        elif endpoint.open and endpoint.transport.can_write_eof():  # TLS has no half-close
            with contextlib.suppress(OSError, RuntimeError):
                endpoint.transport.write_eof()

    def update_reading(self) -> None:
        """After anything that may change it: who may be read from, and when to wake up."""
        if self._closed:
            return
        self.connection.actions.begin()  # or it would keep what has left
        self.throttled = self.paused or self.waits
        for endpoint in (self.client, self.broker):
            if not endpoint.open:
                continue
            full = self.connection.full(endpoint.direction)
            self.throttled |= full
            if endpoint.ended:  # reading again would only find the end again
                continue
            if endpoint.peer.clogged or full or self.waits or self._rests(endpoint):
                endpoint.transport.pause_reading()
            elif not endpoint.transport.is_reading():
                endpoint.transport.resume_reading()
        self._timer.set(self.connection.wake)

    def introduce(self, now: int) -> None:
        """The capture goes on in another segment, which knows nothing of this connection yet."""
        if self.flow is not None:
            self.flow.go_on(now, partial(snapshot, self.connection))

    def tick(self) -> None:
        """It is time, or a frame here has been waiting for one that passed elsewhere."""
        if not self._closed:
            self._call(self.connection.tick)

    def _call(self, method: Callable[[int], Actions]) -> None:
        now = clock()
        self.perform(method(now), now)
        self.update_reading()

    def replace(self, plan: Plan) -> None:
        """Go on under other rules."""
        self._call(partial(self.connection.replace, plan))

    def release(self, rule: str) -> None:
        """What a rule holds leaves."""
        self._call(partial(self.connection.release, rule))

    def decide(self, id: str, decision: Decision) -> None:
        """What somebody decided about a message that waits here. Raises LookupError."""
        self._call(partial(self.connection.decide, id, decision))

    def pause(self) -> None:
        """Read from neither endpoint. What has been read goes its way, when a rule lets it."""
        self.paused = True
        self.update_reading()

    def step(self, direction: Direction) -> None:
        """While paused: read the next frame that goes in this direction, and no more."""
        endpoint = self.client if direction == "request" else self.broker
        endpoint.buffers = OneFrame(self.buffers, self.connection.state.ingress[direction])
        self.update_reading()

    def resume(self) -> None:
        """Read from both sides again."""
        self.paused = False
        self.client.buffers = self.broker.buffers = self.buffers
        self.update_reading()

    def _rests(self, endpoint: Endpoint) -> bool:
        """Whether an endpoint is paused, and has no step to make."""
        if not self.paused:
            return False
        step = endpoint.buffers
        if isinstance(step, OneFrame) and not step.done:
            return False
        endpoint.buffers = self.buffers
        return True

    def received(self) -> tuple[int, int]:
        """Bytes that came from the client and from the broker."""
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
        self._cut_short |= not all(one.between for one in self.connection.state.ingress.values())

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
        """Whether a socket is not closed yet; after `close` it may still have something to send."""
        return self.client.open or self.broker.open

    def abort(self) -> None:
        """Close what is still open, sent or not."""
        for endpoint in (self.client, self.broker):
            if endpoint.open:
                endpoint.transport.abort()

    @staticmethod
    def _reset_on_close(endpoint: Endpoint) -> None:
        """A reset is passed on as a reset."""
        sock = endpoint.transport.get_extra_info("socket")
        if sock is not None:
            with contextlib.suppress(OSError):
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
