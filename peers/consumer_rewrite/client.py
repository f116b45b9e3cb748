"""A consumer of this protocol on asyncio. As in the document, all of it happens in `poll`.

client = Client(ConsumerSettings("g", cluster.bootstrap, topics=("t",)))
client.start()
while ...:
    await client.poll(0.1)
    client.partitions       # what it may fetch from, with the next offsets
await client.stop()
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

from peers.consumer_rewrite.actions import (
    Connect,
    Consume,
    ConsumerAction,
    Disconnect,
    Fail,
    Request,
)
from peers.consumer_rewrite.consumer import Consumer
from peers.consumer_rewrite.server import now_ms
from peers.consumer_rewrite.settings import Address, ConsumerSettings
from peers.consumer_rewrite.strategies import Partition

READ: Final = 1 << 16


class Client:
    """A consumer over sockets. `generation` is -1 while it must not fetch."""

    def __init__(self, settings: ConsumerSettings) -> None:
        self.core = Consumer(settings)
        self.generation = -1
        self.history: list[tuple[int, tuple[Partition, ...]]] = []
        """Generation and partitions of each time it could begin to fetch."""
        self._inbox: asyncio.Queue[tuple[int, str, bytes]] = asyncio.Queue()
        self._link = 0
        """Number of the connection: what an earlier one brings is of no use."""
        self._task: asyncio.Task[None] | None = None
        self._writer: asyncio.StreamWriter | None = None

    @property
    def partitions(self) -> Mapping[Partition, int]:
        """What it may fetch from, and the next offset of each."""
        return self.core.positions if self.generation >= 0 else {}

    def consumed(self, at: Partition, offset: int) -> None:
        """The application has consumed up to this offset; it is the next one that it fetches."""
        self.core.positions[at] = offset

    def start(self) -> None:
        """Begin; what is to be done is done in `poll`."""
        self._do(self.core.start(now_ms()))

    async def poll(self, seconds: float) -> None:
        """Do what is due, and take what comes within so many seconds."""
        end = now_ms() + round(seconds * 1e3)
        while True:
            while not self._inbox.empty():
                self._take(*self._inbox.get_nowait())
            self._do(self.core.poll(now_ms()))
            wake = self.core.wake
            until = end if wake is None else min(end, max(wake, now_ms() + 1))
            left = until - now_ms()
            if end <= now_ms():
                return
            try:
                self._take(*await asyncio.wait_for(self._inbox.get(), max(left, 1) / 1e3))
            except TimeoutError:
                continue

    def commit(self) -> None:
        """Commit all positions, without waiting for the answer."""
        self._do(self.core.commit(now_ms()))

    async def stop(self) -> None:
        """Leave the group."""
        self._do(self.core.stop(now_ms()))
        await self.kill()

    async def kill(self) -> None:
        """Be gone, without a word to the coordinator."""
        self.generation = -1
        self._hang_up()
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    def _take(self, link: int, what: str, data: bytes) -> None:
        if link != self._link:
            return
        if what == "data":
            self._do(self.core.receive(data, now_ms()))
        elif what == "connected":
            self._do(self.core.connected(now_ms()))
        else:
            self._do(self.core.lost(now_ms()))

    def _do(self, actions: list[ConsumerAction]) -> None:
        for action in actions:
            if isinstance(action, Connect):
                self._link += 1
                self._task = asyncio.create_task(self._read(self._link, action.address))
            elif isinstance(action, Request):
                if self._writer is not None:
                    self._writer.write(action.data)
            elif isinstance(action, Disconnect):
                self._hang_up()
            elif isinstance(action, Consume):
                self.generation = action.generation
                self.history.append((action.generation, tuple(sorted(action.start))))
            else:
                self.generation = -1
                if isinstance(action, Fail):
                    self._hang_up()

    def _hang_up(self) -> None:
        self._link += 1
        if self._writer is not None:
            self._writer.close()  # what was written is sent before
            self._writer = None
        elif self._task is not None:
            self._task.cancel()

    async def _read(self, link: int, address: Address) -> None:
        try:
            reader, writer = await asyncio.open_connection(*address)
        except (OSError, OverflowError, UnicodeError):
            self._inbox.put_nowait((link, "lost", b""))
            return
        if link != self._link:
            writer.close()
            return
        self._writer = writer
        self._inbox.put_nowait((link, "connected", b""))
        try:
            while data := await reader.read(READ):
                self._inbox.put_nowait((link, "data", data))
        except ConnectionError:
            pass
        finally:
            writer.close()
            if self._writer is writer:
                self._writer = None
            self._inbox.put_nowait((link, "lost", b""))
