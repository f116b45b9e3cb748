"""Connections to live brokers: requests go out as they come, answers come in their order."""

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


class Gone(ConnectionError):
    """The broker has closed the connection, or answers what was not asked."""


class LiveConnection:
    """Pairs answers with requests, first in, first out; the correlation id is the check."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._waiting: deque[tuple[int, int, int, asyncio.Future[bytes]]] = deque()
        """Correlation id, API key and version, and who waits for the body."""
        self._next = 0
        self._problem: Gone | None = None
        self._task = asyncio.create_task(self._read())
        self._closing: asyncio.Task[None] | None = None
        self._ends = math.inf
        self._renew: Callable[[], Awaitable[None]] | None = None
        self._renewing = asyncio.Lock()

    @classmethod
    async def open(cls, address: Address, tls: ssl.SSLContext | None = None) -> Self:
        """Connect. Raises OSError."""
        return cls(*await asyncio.open_connection(*possible(address), ssl=tls, limit=BUFFER))

    @property
    def gone(self) -> bool:
        """Whether nothing will be answered any more."""
        return self._problem is not None

    def send(
        self, key: int, version: int, client_id: str | None, body: bytes, *, answered: bool = True
    ) -> asyncio.Future[bytes] | None:
        """Send a request; what its response's body will be, or Gone. None if no answer is due."""
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
        found: asyncio.Future[bytes] | None = None
        if answered:
            found = asyncio.get_running_loop().create_future()
            if self._problem is not None:
                found.set_exception(self._problem)
                found.exception()
                return found
            self._waiting.append((correlation_id, key, version, found))
        self._writer.writelines((struct.pack(">i", len(header) + len(body)), header, body))
        return found

    def lasts(self, seconds: float, renew: Callable[[], Awaitable[None]]) -> None:
        """Whoever asks after so many seconds waits until `renew` has begun anew: sessions of SASL end."""
        self._ends = asyncio.get_running_loop().time() + seconds
        self._renew = renew

    async def ready(self) -> None:
        """Wait until a request may be sent, which must be at once. Raises what `renew` raises."""
        now = asyncio.get_running_loop().time
        if now() >= self._ends:
            async with self._renewing:
                if now() >= self._ends and self._renew is not None:
                    await self._renew()

    async def drain(self) -> None:
        """Wait while the broker takes less than is sent."""
        with contextlib.suppress(ConnectionError):
            await self._writer.drain()

    async def idle(self) -> None:
        """Wait until all is answered, or nothing more will be."""
        await asyncio.gather(*(future for *_, future in self._waiting), return_exceptions=True)

    async def close(self) -> None:
        """Close it; who waits gets Gone. Who is cancelled meanwhile is cancelled alone: it goes on."""
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
        problem = Gone("the connection was closed")
        try:
            while True:
                (size,) = struct.unpack(">i", await self._reader.readexactly(4))
                if not 4 <= size <= FRAME_LIMIT:
                    problem = Gone(f"the broker sends a frame of {size} bytes")
                    return
                self._answer(await self._reader.readexactly(size))
        except Gone as found:
            problem = found
        except (asyncio.IncompleteReadError, OSError):
            problem = Gone("the live broker closed the connection")
        finally:
            self._problem = problem
            for *_, future in self._waiting:
                if not future.done():
                    future.set_exception(problem)
                    future.exception()  # whether or not anybody waits for it still
            self._waiting.clear()

    def _answer(self, frame: bytes) -> None:
        found = int.from_bytes(frame[:4], signed=True)
        if not self._waiting or self._waiting[0][0] != found:
            raise Gone(f"the broker answers request {found}, which is not the next one")
        _, key, version, future = self._waiting.popleft()
        if future.done():  # nobody waits any longer
            return
        try:
            future.set_result(frame[response_body(frame, key, version) :])
        except Malformed as problem:
            future.set_exception(Gone(f"the header of a {NAMES[key]} response: {problem}"))


Dial = Callable[[Address], Awaitable[LiveConnection]]
"""Opens a connection that is ready for requests: authenticated, where that is wanted."""


class LiveConnections:
    """The live connections of a replay: one for each recorded connection and broker that it is for.

    They are opened when they are first wanted, and again when they were closed; (recorded connection, node
    id) says which.
    """

    def __init__(self, dial: Dial) -> None:
        self._dial = dial
        self._open: dict[tuple[int, int], LiveConnection] = {}
        self._closing: dict[asyncio.Task[None], LiveConnection] = {}
        """Those that end when all is answered on them."""

    async def ready(self, place: tuple[int, int], address: Address) -> LiveConnection:
        """Return a connection on which a request may be sent at once. Raises OSError."""
        found = self._open.get(place)
        if found is None or found.gone:
            if found is not None:
                await found.close()
            found = self._open[place] = await self._dial(address)
        await found.ready()
        return found

    def end(self, recorded: int) -> None:
        """End the live connections of a recorded one when all is answered on them."""
        for place in [place for place in self._open if place[0] == recorded]:
            found = self._open.pop(place)
            task = asyncio.create_task(_closed(found))
            self._closing[task] = found
            task.add_done_callback(self._closing.pop)

    async def close(self) -> None:
        """Close all of them at once."""
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
