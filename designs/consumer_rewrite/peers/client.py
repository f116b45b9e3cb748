"""A consumer of this protocol on asyncio. As in the document, everything happens in `poll`.

client = Client(ConsumerSettings("g", cluster.bootstrap, topics=("t",)))
client.start()
while ...:
    await client.poll(0.1)
    client.partitions       # what it may fetch from, with the next offsets
await client.stop()
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from barnabas.designs.brokers.listener import now_ms
from barnabas.designs.consumer_rewrite.peers.actions import Consume, ConsumerAction
from barnabas.designs.consumer_rewrite.peers.consumer import Consumer
from barnabas.designs.consumer_rewrite.peers.settings import ConsumerSettings
from barnabas.designs.consumer_rewrite.peers.strategies import Partition
from barnabas.designs.consuming.dialer import Connect, ConnectionEvent, Dialer, Disconnect, Transmit


class Client:
    """A consumer over sockets. `generation` is -1 while it must not fetch.

    watch: called with every action, right before it is performed.
    """

    def __init__(
        self,
        settings: ConsumerSettings,
        watch: Callable[[ConsumerAction], None] = lambda action: None,
    ) -> None:
        self.core = Consumer(settings)
        self.generation = -1
        self.history: list[tuple[int, tuple[Partition, ...]]] = []
        """Generation and partitions of each time it could begin to fetch."""
        self._watch = watch
        self._dialer = Dialer()

    @property
    def partitions(self) -> Mapping[Partition, int]:
        """Return the partitions to fetch, and the next offset of each."""
        return self.core.positions if self.generation >= 0 else {}

    def consumed(self, at: Partition, offset: int) -> None:
        """Set the next offset to fetch, after the application has consumed the records before it."""
        self.core.positions[at] = offset

    def start(self) -> None:
        """Start the consumer, whose work is done in `poll`."""
        self._do(self.core.start(now_ms()))

    def subscribe(self, topics: Iterable[str]) -> None:
        """Subscribe to other topics, with the next poll."""
        self.core.subscribe(topics)

    async def poll(self, seconds: float) -> None:
        """Perform what is due, and process what arrives, for a number of seconds."""
        end = now_ms() + round(seconds * 1e3)
        while True:
            while (come := self._dialer.waiting()) is not None:
                self._take(come)
            self._do(self.core.poll(now_ms()))
            wake, now = self.core.wake, now_ms()
            if now >= end:
                return
            until = end if wake is None else min(end, max(wake, now + 1))
            news = await self._dialer.news(max(until - now, 1) / 1e3)
            if news is not None and self._dialer.current(news):
                self._take(news)

    def commit(self) -> None:
        """Commit all positions, without waiting for the response."""
        self._do(self.core.commit(now_ms()))

    async def stop(self) -> None:
        """Leave the group."""
        self._do(self.core.stop(now_ms()))
        await self.kill()

    async def kill(self) -> None:
        """End without a request to the coordinator."""
        self.generation = -1
        await self._dialer.end()

    def _take(self, news: ConnectionEvent) -> None:
        if news.kind == "data":
            self._do(self.core.receive(news.data, now_ms()))
        elif news.kind == "connected":
            self._do(self.core.connected(now_ms()))
        else:
            self._do(self.core.lost(now_ms()))

    def _do(self, actions: list[ConsumerAction]) -> None:
        for action in actions:
            self._watch(action)
            if isinstance(action, Connect | Transmit | Disconnect):
                self._dialer.do(action)
            elif isinstance(action, Consume):
                self.generation = action.generation
                self.history.append((action.generation, tuple(sorted(action.start))))
            else:
                self.generation = -1
