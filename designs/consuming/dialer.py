"""A consumer's single connection on asyncio, with a queue of its events."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from barnabas.captures.host_port import possible
from barnabas.designs.brokers.listener import Address

READ: Final = 1 << 16


@dataclass(frozen=True)
class Connect:
    """An action: connect; then call `connected` or `lost`."""

    address: Address


@dataclass(frozen=True)
class Transmit:
    """An action: send bytes."""

    data: bytes


@dataclass(frozen=True)
class Disconnect:
    """An action: close the connection."""


class ConnectionEvent(NamedTuple):
    """An event of a connection: connected, lost, or received bytes."""

    link: int
    kind: Literal["connected", "data", "lost"]
    data: bytes = b""


class Dialer:
    """A consumer's connection. Events of an earlier connection are dropped."""

    def __init__(self) -> None:
        self._inbox: asyncio.Queue[ConnectionEvent] = asyncio.Queue()
        self._link = 0
        self._task: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        """Tasks of connections, including abandoned ones, until they have ended."""
        self._writer: asyncio.StreamWriter | None = None

    def do(self, action: Connect | Transmit | Disconnect) -> None:
        """Perform an action of a core."""
        if isinstance(action, Connect):
            self._link += 1
            self._task = asyncio.create_task(self._read(self._link, action.address))
            self._tasks.add(self._task)
            self._task.add_done_callback(self._tasks.discard)
        elif isinstance(action, Transmit):
            if self._writer is not None:
                self._writer.write(action.data)
        else:
            self.hang_up()

    def hang_up(self) -> None:
        """Close the connection after pending writes."""
        self._link += 1
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        elif self._task is not None:
            self._task.cancel()

    async def end(self) -> None:
        """Close the connection, and wait until that is done."""
        self.hang_up()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def waiting(self) -> ConnectionEvent | None:
        """Return the next queued event; None: there is none."""
        while not self._inbox.empty():
            news = self._inbox.get_nowait()
            if self.current(news):
                return news
        return None

    async def news(self, seconds: float | None) -> ConnectionEvent | None:
        """Wait for the next event; None: timeout. It may belong to an earlier connection."""
        try:
            async with asyncio.timeout(seconds):  # wait_for of 3.11 may swallow a cancellation
                return await self._inbox.get()
        except TimeoutError:
            return None

    def current(self, news: ConnectionEvent) -> bool:
        """Return whether an event belongs to the present connection."""
        return news.link == self._link

    async def _read(self, link: int, address: Address) -> None:
        try:
            reader, writer = await asyncio.open_connection(*possible(address))
        except OSError:
            self._inbox.put_nowait(ConnectionEvent(link, "lost"))
            return
        if link != self._link:
            writer.close()
            return
        self._writer = writer
        self._inbox.put_nowait(ConnectionEvent(link, "connected"))
        try:
            while data := await reader.read(READ):
                self._inbox.put_nowait(ConnectionEvent(link, "data", data))
        except ConnectionError:
            pass
        finally:
            writer.close()
            if self._writer is writer:
                self._writer = None
            self._inbox.put_nowait(ConnectionEvent(link, "lost"))
