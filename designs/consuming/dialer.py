"""A consumer's one connection, on asyncio; what arrives is queued."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from barnabas.captures.host_port import possible
from barnabas.designs.brokers.listener import Address

READ: Final = 1 << 16


@dataclass(frozen=True)
class Connect:
    """A consumer connects; then call `connected`, or `lost`."""

    address: Address


@dataclass(frozen=True)
class Transmit:
    """A consumer sends bytes on its connection."""

    data: bytes


@dataclass(frozen=True)
class Disconnect:
    """A consumer closes its connection."""


class News(NamedTuple):
    """What became of the connection, or what came on it."""

    link: int
    what: Literal["connected", "data", "lost"]
    data: bytes = b""


class Dialer:
    """Connects, sends and hangs up. News of a connection that was given up is dropped."""

    def __init__(self) -> None:
        self._inbox: asyncio.Queue[News] = asyncio.Queue()
        self._link = 0
        self._task: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        """Of connections that were given up, too, until they have ended."""
        self._writer: asyncio.StreamWriter | None = None

    def do(self, action: Connect | Transmit | Disconnect) -> None:
        """Do what a core wants."""
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
        """Close the connection, behind what was written."""
        self._link += 1
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        elif self._task is not None:
            self._task.cancel()

    async def end(self) -> None:
        """Hang up, and wait until that is done."""
        self.hang_up()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def waiting(self) -> News | None:
        """What has come already; None: nothing."""
        while not self._inbox.empty():
            news = self._inbox.get_nowait()
            if self.current(news):
                return news
        return None

    async def news(self, seconds: float | None) -> News | None:
        """What comes next; None: nothing within so many seconds. It may be of a connection of before."""
        try:
            async with asyncio.timeout(seconds):  # wait_for of 3.11 may swallow a cancellation
                return await self._inbox.get()
        except TimeoutError:
            return None

    def current(self, news: News) -> bool:
        """Whether it is about the connection that there is now."""
        return news.link == self._link

    async def _read(self, link: int, address: Address) -> None:
        try:
            reader, writer = await asyncio.open_connection(*possible(address))
        except OSError:
            self._inbox.put_nowait(News(link, "lost"))
            return
        if link != self._link:
            writer.close()
            return
        self._writer = writer
        self._inbox.put_nowait(News(link, "connected"))
        try:
            while data := await reader.read(READ):
                self._inbox.put_nowait(News(link, "data", data))
        except ConnectionError:
            pass
        finally:
            writer.close()
            if self._writer is writer:
                self._writer = None
            self._inbox.put_nowait(News(link, "lost"))
