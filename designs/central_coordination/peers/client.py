"""A consumer of this protocol on asyncio. It reads and responds by itself, from `start` to `stop`.

    client = Client(ConsumerSettings("g", "c1", cluster.bootstrap))
    client.start()
    client.partitions       # what it fetches from, with the next offsets
    await client.stop()

`client.pause()` and `client.resume()` make a soft failure, such as a long pause of the process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from barnabas.designs.brokers.listener import Log, now_ms
from barnabas.designs.central_coordination.peers.actions import ConsumerAction, StartFetchers
from barnabas.designs.central_coordination.peers.consumer import NOWHERE, Consumer, LogEnds, begin
from barnabas.designs.central_coordination.peers.interest import Partition
from barnabas.designs.central_coordination.peers.settings import ConsumerSettings
from barnabas.designs.consuming.dialer import Connect, Dialer, Disconnect, Transmit

Watcher = Callable[[ConsumerAction], None]


class Client:
    """A consumer over sockets. `watch` is called with every action, right before it is performed.

    If `watch` raises asyncio.CancelledError, that action and all after it are dropped: the consumer is dead,
    with its connection open until `stop`.

    ends: end offsets of each partition's log, as the application knows them. A fetcher with an offset out of
    range, or without one, starts as auto_offset_reset decides. Without `ends` any offset is valid, and a
    fetcher without one starts at 0.
    """

    def __init__(
        self,
        settings: ConsumerSettings,
        watch: Watcher | None = None,
        ends: Callable[[Partition], LogEnds] | None = None,
    ) -> None:
        self.core = Consumer(settings)
        self._watch = watch
        self._ends = ends
        self.fetching = False
        self.starts = 0
        """The number of starts of its fetchers."""
        self.said: list[str] = []
        """Lines of its log; the latest 100."""
        self._awake = asyncio.Event()
        self._awake.set()
        self._dialer = Dialer()
        self._task: asyncio.Task[None] | None = None

    @property
    def partitions(self) -> Mapping[Partition, int]:
        """Return the partitions to fetch, and the next offset of each."""
        return self.core.positions if self.fetching else {}

    def consumed(self, at: Partition, offset: int) -> None:
        """Set the next offset to fetch, after the application has consumed the records before it."""
        self.core.positions[at] = offset

    def start(self) -> None:
        """Start in the running event loop."""
        self._task = asyncio.create_task(self._work())

    def pause(self) -> None:
        """Stop reading, responding and noticing anything."""
        self._awake.clear()

    def resume(self) -> None:
        """Continue with everything that has arrived meanwhile."""
        self._awake.set()

    async def stop(self) -> None:
        """Close the connection: the document has no request to leave."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._watch = None
        self._do(self.core.stop())
        await self._dialer.end()

    async def _work(self) -> None:
        self._do(self.core.start(now_ms()))
        while True:
            await self._awake.wait()
            wake = self.core.wake
            news = await self._dialer.news(None if wake is None else max(1, wake - now_ms()) / 1e3)
            await self._awake.wait()
            if news is None:
                self._do(self.core.tick(now_ms()))
            elif not self._dialer.current(news):
                continue
            elif news.kind == "data":
                self._do(self.core.receive(news.data, now_ms()))
            elif news.kind == "connected":
                self._do(self.core.connected(now_ms()))
            else:
                self._do(self.core.lost(now_ms()))

    def _do(self, actions: list[ConsumerAction]) -> None:
        for action in actions:
            if self._watch is not None:
                self._watch(action)
            if isinstance(action, Connect | Transmit | Disconnect):
                self._dialer.do(action)
            elif isinstance(action, Log):
                self.said = [*self.said[-99:], f"{action.level} {action.text}"]
            elif isinstance(action, StartFetchers):
                self.fetching, self.starts = True, self.starts + 1
                for at, offset in action.start.items():
                    self.core.positions[at] = self._begin(at, offset)
            else:
                self.fetching = False

    def _begin(self, at: Partition, offset: int) -> int:
        if self._ends is None:
            return 0 if offset == NOWHERE else offset
        return begin(offset, self._ends(at), self.core.settings.auto_offset_reset)
