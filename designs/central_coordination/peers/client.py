"""A consumer of this protocol on asyncio. It reads and answers by itself, from `start` to `stop`.

    client = Client(ConsumerSettings("g", "c1", cluster.bootstrap))
    client.start()
    client.partitions       # what it fetches from, with the next offsets
    await client.stop()

A soft failure, as a long pause of the process, is `client.pause()`, and its end `client.resume()`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from barnabas.designs.brokers.listener import Log, now_ms
from barnabas.designs.central_coordination.peers.actions import ConsumerAction, StartFetchers
from barnabas.designs.central_coordination.peers.consumer import NOWHERE, Consumer, Ends, begin
from barnabas.designs.central_coordination.peers.interest import Partition
from barnabas.designs.central_coordination.peers.settings import ConsumerSettings
from barnabas.designs.consuming.dialer import Connect, Dialer, Disconnect, Transmit

Watcher = Callable[[ConsumerAction], None]


class Client:
    """A consumer over sockets. `watch` hears of every action, right before it is carried out.

    If it raises asyncio.CancelledError, neither that one nor any behind it is: the consumer is dead, with
    its connection open until `stop`.

    ends: of each partition's log, as the application knows them. Fetchers that are told to begin elsewhere,
    or not told where, begin where auto_offset_reset says. Without it any offset will do, and who is not
    told where begins at 0.
    """

    def __init__(
        self,
        settings: ConsumerSettings,
        watch: Watcher | None = None,
        ends: Callable[[Partition], Ends] | None = None,
    ) -> None:
        self.core = Consumer(settings)
        self._watch = watch
        self._ends = ends
        self.fetching = False
        self.starts = 0
        """How often its fetchers were started."""
        self.said: list[str] = []
        """Lines of its log; the latest 100."""
        self._awake = asyncio.Event()
        self._awake.set()
        self._dialer = Dialer()
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
            elif news.what == "data":
                self._do(self.core.receive(news.data, now_ms()))
            elif news.what == "connected":
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
