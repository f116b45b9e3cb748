"""A consumer of this protocol on asyncio. It reads and answers by itself, from `start` to `stop`.

    client = Client(ConsumerSettings("g", "c1", cluster.bootstrap))
    client.start()
    client.partitions       # what it fetches from, with the next offsets
    await client.stop()

A soft failure, as a long pause of the process, is `client.pause()`, and its end `client.resume()`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

from peers.central_coordination.actions import (
    Connect,
    ConsumerAction,
    Disconnect,
    Reply,
    StartFetchers,
)
from peers.central_coordination.consumer import NOWHERE, Consumer
from peers.central_coordination.interest import Partition
from peers.central_coordination.server import now_ms
from peers.central_coordination.settings import Address, ConsumerSettings

READ: Final = 1 << 16


class Client:
    """A consumer over sockets."""

    def __init__(self, settings: ConsumerSettings) -> None:
        self.core = Consumer(settings)
        self.fetching = False
        self.starts = 0
        """How often its fetchers were started."""
        self._inbox: asyncio.Queue[tuple[int, str, bytes]] = asyncio.Queue()
        self._awake = asyncio.Event()
        self._awake.set()
        self._link = 0
        self._writer: asyncio.StreamWriter | None = None
        self._reader: asyncio.Task[None] | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def partitions(self) -> Mapping[Partition, int]:
        """What it fetches from, and the next offset of each."""
        return self.core.positions if self.fetching else {}

    def consumed(self, at: Partition, offset: int) -> None:
        """The application has consumed up to this offset; it is the next one that it fetches."""
        self.core.positions[at] = offset

    def start(self) -> None:
        """Begin, in the running event loop."""
        self._task = asyncio.create_task(self._work())

    def pause(self) -> None:
        """From now on nothing is read, answered or noticed."""
        self._awake.clear()

    def resume(self) -> None:
        """Go on with what has come meanwhile."""
        self._awake.set()

    async def stop(self) -> None:
        """Be gone: the document has no goodbye."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._do(self.core.stop())
        self._hang_up()
        if self._reader is not None:
            await asyncio.gather(self._reader, return_exceptions=True)

    async def _work(self) -> None:
        self._do(self.core.start(now_ms()))
        while True:
            await self._awake.wait()
            wake = self.core.wake
            try:
                seconds = None if wake is None else max(1, wake - now_ms()) / 1e3
                link, what, data = await asyncio.wait_for(self._inbox.get(), seconds)
            except TimeoutError:
                await self._awake.wait()
                self._do(self.core.tick(now_ms()))
                continue
            await self._awake.wait()
            if link != self._link:
                continue
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
                self._reader = asyncio.create_task(self._read(self._link, action.address))
            elif isinstance(action, Reply):
                if self._writer is not None:
                    self._writer.write(action.data)
            elif isinstance(action, Disconnect):
                self._hang_up()
            elif isinstance(action, StartFetchers):
                self.fetching, self.starts = True, self.starts + 1
                for at, offset in action.start.items():
                    # there is no log here whose end `largest` could mean
                    self.core.positions[at] = 0 if offset == NOWHERE else offset
            else:
                self.fetching = False

    def _hang_up(self) -> None:
        self._link += 1
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        elif self._reader is not None:
            self._reader.cancel()

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
