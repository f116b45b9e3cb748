"""Connections to live brokers: requests are sent at once, responses arrive in order."""

from __future__ import annotations

import asyncio
import contextlib
import math
import ssl
import struct
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final, Self

from barnabas.captures.host_port import possible
from barnabas.specs.frames import response_body
from barnabas.specs.headers import REQUEST_HEADER, request_header_version
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import NAMES

FRAME_LIMIT: Final = 1 << 30
"""Bytes of the largest response."""

BUFFER: Final = 1 << 20

Address = tuple[str, int]


class ConnectionLost(ConnectionError):
    """The broker has closed the connection, or sent a response to no request."""


class LiveConnection:
    """A connection to a live broker that pairs responses with requests, first in, first out."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._waiting: deque[tuple[int, int, int, asyncio.Future[bytes]]] = deque()
        """Correlation id, API key, version, and the future for the body."""
        self._next = 0
        self._problem: ConnectionLost | None = None
        self._task = asyncio.create_task(self._read())
        self._closing: asyncio.Task[None] | None = None
        self._ends = math.inf
        self._renew: Callable[[], Awaitable[None]] | None = None
        self._renewing = asyncio.Lock()

    @classmethod
    async def open(cls, address: Address, tls: ssl.SSLContext | None = None) -> Self:
        """Connect to an address. Raises OSError."""
        return cls(*await asyncio.open_connection(*possible(address), ssl=tls, limit=BUFFER))

    @property
    def gone(self) -> bool:
        """Return whether the connection has failed, so that no more responses arrive."""
        return self._problem is not None

    def send(
        self, key: int, version: int, client_id: str | None, body: bytes, *, answered: bool = True
    ) -> asyncio.Future[bytes] | None:
        """Send a request, and return a future with its response's body; None if no response is due.

        The future raises ConnectionLost if the connection ends first.
        """
        correlation_id = self._next
        self._next = (self._next + 1) % (1 << 31)
        header = REQUEST_HEADER.codec(request_header_version(key, version)).encode(
            {
                "request_api_key": key,
                "request_api_version": version,
                "correlation_id": correlation_id,
                "client_id": client_id,
            }
        )
        future: asyncio.Future[bytes] | None = None
        if answered:
            future = asyncio.get_running_loop().create_future()
            if self._problem is not None:
                future.set_exception(self._problem)
                future.exception()
                return future
            self._waiting.append((correlation_id, key, version, future))
        self._writer.writelines((struct.pack(">i", len(header) + len(body)), header, body))
        return future

    def lasts(self, seconds: float, renew: Callable[[], Awaitable[None]]) -> None:
        """Have `renew` called before the first request after `seconds`, since SASL sessions end."""
        self._ends = asyncio.get_running_loop().time() + seconds
        self._renew = renew

    async def ready(self) -> None:
        """Wait until a request may be sent, which must follow at once. Raises what `renew` raises."""
        now = asyncio.get_running_loop().time
        if now() >= self._ends:
            async with self._renewing:
                if now() >= self._ends and self._renew is not None:
                    await self._renew()

    async def drain(self) -> None:
        """Wait while the send buffer is full."""
        with contextlib.suppress(ConnectionError):
            await self._writer.drain()

    async def idle(self) -> None:
        """Wait until no response is due any more, or the connection ends."""
        await asyncio.gather(*(future for *_, future in self._waiting), return_exceptions=True)

    async def close(self) -> None:
        """Close the connection, after which pending futures raise ConnectionLost.

        Closing continues if a caller is cancelled.
        """
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        self._task.cancel()
        await asyncio.wait((self._task,))
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    async def _read(self) -> None:
        problem = ConnectionLost("the connection was closed")
        try:
            while True:
                (size,) = struct.unpack(">i", await self._reader.readexactly(4))
                if not 4 <= size <= FRAME_LIMIT:
                    problem = ConnectionLost(f"the broker sends a frame of {size} bytes")
                    return
                self._answer(await self._reader.readexactly(size))
        except ConnectionLost as lost:
            problem = lost
        except (asyncio.IncompleteReadError, OSError):
            problem = ConnectionLost("the live broker closed the connection")
        finally:
            self._problem = problem
            for *_, future in self._waiting:
                if not future.done():
                    future.set_exception(problem)
                    future.exception()  # whether or not anybody waits for it still
            self._waiting.clear()

    def _answer(self, frame: bytes) -> None:
        correlation_id = int.from_bytes(frame[:4], signed=True)
        if not self._waiting or self._waiting[0][0] != correlation_id:
            raise ConnectionLost(
                f"the broker answers request {correlation_id}, which is not the next one"
            )
        _, key, version, future = self._waiting.popleft()
        if future.done():  # the caller has given up
            return
        try:
            future.set_result(frame[response_body(frame, key, version) :])
        except Malformed as problem:
            future.set_exception(
                ConnectionLost(f"the header of a {NAMES[key]} response: {problem}")
            )


Dial = Callable[[Address], Awaitable[LiveConnection]]
"""Opens a connection that is ready for requests: authenticated, if there are credentials."""


class LiveConnections:
    """The live connections of a replay: one for each recorded connection and live broker.

    They are opened on first use, and again after they were closed. Their key is (recorded connection, node
    id).
    """

    def __init__(self, dial: Dial) -> None:
        self._dial = dial
        self._open: dict[tuple[int, int], LiveConnection] = {}
        self._closing: dict[asyncio.Task[None], LiveConnection] = {}
        """Connections that close once their responses have arrived."""

    async def ready(self, key: tuple[int, int], address: Address) -> LiveConnection:
        """Return a connection on which a request may be sent at once. Raises OSError."""
        connection = self._open.get(key)
        if connection is None or connection.gone:
            if connection is not None:
                await connection.close()
            connection = self._open[key] = await self._dial(address)
        await connection.ready()
        return connection

    def end(self, recorded: int) -> None:
        """Close the live connections of a recorded one, once their responses have arrived."""
        for key in [key for key in self._open if key[0] == recorded]:
            connection = self._open.pop(key)
            task = asyncio.create_task(_closed(connection))
            self._closing[task] = connection
            task.add_done_callback(self._closing.pop)

    async def close(self) -> None:
        """Close all connections at once."""
        connections = [*self._open.values(), *self._closing.values()]
        tasks = list(self._closing)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for connection in connections:
            await connection.close()
        self._open.clear()


async def _closed(connection: LiveConnection) -> None:
    await connection.idle()
    await connection.close()
