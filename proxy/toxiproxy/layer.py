"""The layer of toxics between an endpoint and its socket, which all written bytes pass first.

To the socket's transport it is the protocol, to the endpoint the transport. Without toxics everything passes
as if the layer were not there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final, cast

from barnabas.proxy.network.clock import clock
from barnabas.proxy.network.endpoint import Endpoint
from barnabas.proxy.network.timer import Timer
from barnabas.proxy.toxiproxy.behaviour import Behaviour, End, Piece
from barnabas.proxy.toxiproxy.stages import Stages
from barnabas.proxy.toxiproxy.toxics import Stream

TURN: Final = 256
"""The most pieces that leave at once before other connections have their turn."""

CountBytes = Callable[[Stream, int], None]
"""Counts bytes that have arrived in a stream, or left it."""


class ToxicLayer(asyncio.BufferedProtocol):
    """The layer of one side of a connection."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        received: CountBytes,
        sent: CountBytes,
        begun: Callable[[ToxicLayer], None],
        over: Callable[[ToxicLayer], None],
    ) -> None:
        self.number = endpoint.relay.connection.state.number
        from_client = endpoint.direction == "request"
        self.stream: Stream = "downstream" if from_client else "upstream"
        """The stream that leaves through this layer."""
        self._comes: Stream = "upstream" if from_client else "downstream"
        self._endpoint = endpoint
        self._stages = Stages()
        self._received = received
        self._sent = sent
        self._begun = begun
        self._over = over
        self._clogged = self._told = self._lost = False
        self._early = b""
        """The bytes that arrived before the other endpoint was connected: a server may speak first."""
        self._socket: asyncio.Transport
        self._timer = Timer(asyncio.get_running_loop(), clock, self._ring)

    # toxics

    def add(self, name: str, acts: Behaviour) -> None:
        """Add a toxic after the others."""
        self._stages.add(name, acts)
        self._ring()

    def update(self, name: str, acts: Behaviour) -> None:
        """Replace the behaviour of a toxic."""
        self._stages.update(name, acts)
        self._ring()

    def remove(self, name: str) -> None:
        """Remove a toxic; the pieces that it holds leave."""
        self._carry(self._stages.remove(name, clock()))
        self._ring()

    def _ring(self) -> None:
        self._carry(self._stages.advance(clock()))
        self._press(self._clogged or self._stages.full)
        self._timer.set(None if self._lost else self._stages.due)

    def _put(self, piece: Piece) -> None:
        leave = self._stages.put(piece, clock())
        self._carry(leave)
        self._timer.set(None if self._lost else self._stages.due)
        if len(leave) > TURN and not self._lost:
            self._press(True)
            asyncio.get_running_loop().call_soon(self._ring)

    def _carry(self, pieces: list[Piece]) -> None:
        for piece in pieces:
            if self._lost:
                return
            if isinstance(piece, bytes):
                self._sent(self.stream, len(piece))
                self._socket.write(piece)
            elif piece is End.RESET:
                self._endpoint.relay.close(reset=True)
                self._socket.abort()  # the relay may be closed already
            elif piece is End.CLOSE:
                self._socket.close()
            elif self._socket.can_write_eof():
                self._socket.write_eof()

    def _press(self, full: bool) -> None:
        """Let the endpoint know whether it may write."""
        if full != self._told:
            self._told = full
            tell = self._endpoint.pause_writing if full else self._endpoint.resume_writing
            tell()

    # called by the socket's transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connected socket."""
        self._socket = cast("asyncio.Transport", transport)
        self._endpoint.connection_made(cast("asyncio.BaseTransport", self))
        self._begun(self)
        other = self._other
        if other is not None and other._early:
            asyncio.get_running_loop().call_soon(other._go_on)

    @property
    def _other(self) -> ToxicLayer | None:
        """Return the other layer, once its socket is connected."""
        transport = getattr(self._endpoint.peer, "transport", None)
        return transport if isinstance(transport, ToxicLayer) else None

    def _go_on(self) -> None:
        """Pass on the early bytes: the other endpoint is connected."""
        early, self._early = self._early, b""
        if not self._lost:
            self._endpoint.get_buffer(len(early))[: len(early)] = early
            self._endpoint.buffer_updated(len(early))
            self._endpoint.relay.update_reading()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return the buffer to read into."""
        return self._endpoint.get_buffer(sizehint)

    def buffer_updated(self, nbytes: int) -> None:
        """Pass on a chunk, or keep it until the other endpoint is connected."""
        self._received(self._comes, nbytes)
        if self._other is None:
            self._early = bytes(self._endpoint.get_buffer(nbytes)[:nbytes])
            self._socket.pause_reading()
            return
        self._endpoint.buffer_updated(nbytes)

    def eof_received(self) -> bool:
        """Pass on that the peer sends no more."""
        return self._endpoint.eof_received()

    def pause_writing(self) -> None:
        """Stop the endpoint from writing: the socket has not taken all bytes."""
        self._clogged = True
        self._press(True)

    def resume_writing(self) -> None:
        """Let the endpoint write again, unless the toxics are full: the socket has taken all bytes."""
        self._clogged = False
        self._press(self._stages.full)

    def connection_lost(self, exc: Exception | None) -> None:
        """Pass on that the socket is closed."""
        self._lost = True
        self._timer.set(None)
        self._over(self)
        self._endpoint.connection_lost(exc)

    # called by the endpoint and its relay

    def write(self, data: bytes | memoryview) -> None:
        """Send bytes when the toxics let them pass.

        The buffer is free again, unless the endpoint is paused.
        """
        if self._stages.empty:
            self._sent(self.stream, len(data))
            self._socket.write(data)
            return
        self._put(bytes(data))
        if self._stages.full:
            self._press(True)

    def can_write_eof(self) -> bool:
        """Return whether the socket can send an end alone."""
        return self._socket.can_write_eof()

    def write_eof(self) -> None:
        """Send the end after all written bytes."""
        self._put(End.FIN)

    def close(self) -> None:
        """Close after all written bytes; nothing more is read."""
        if not self._socket.is_closing():
            self._socket.pause_reading()
        self._put(End.CLOSE)

    def abort(self) -> None:
        """Close at once."""
        self._socket.abort()

    def is_closing(self) -> bool:
        """Return whether the socket is closing."""
        return self._socket.is_closing()

    def pause_reading(self) -> None:
        """Stop reading for now."""
        self._socket.pause_reading()

    def resume_reading(self) -> None:
        """Read again."""
        self._socket.resume_reading()

    def is_reading(self) -> bool:
        """Return whether the socket is read from."""
        return self._socket.is_reading()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Return information of the socket's transport."""
        return self._socket.get_extra_info(name, default)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Set the limits of the socket's transport."""
        self._socket.set_write_buffer_limits(high, low)
