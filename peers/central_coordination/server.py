"""Brokers of this protocol on asyncio: a port each, and a registry and an election that they share.

async with Cluster(2, topics={"t": ("0-0", "0-1")}) as cluster:
    cluster.bootstrap        # ("127.0.0.1", port) of each
    await cluster.stop(1)    # it dies; if it coordinated, another one does
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Self

from peers.central_coordination.actions import (
    BrokerAction,
    Close,
    ReadOffsets,
    Send,
    StoreOffsets,
)
from peers.central_coordination.coordinator import Broker
from peers.central_coordination.offsets import load, store
from peers.central_coordination.settings import Address, BrokerSettings
from peers.registry import Elector, MemoryElector, MemoryRegistry, Registry

READ: Final = 1 << 16
UNSENT_LIMIT: Final = 8 << 20
"""Bytes that a client may leave unread before its connection is closed."""

Watcher = Callable[[int, BrokerAction], None]


def now_ms() -> int:
    """The clock of the cores."""
    return time.monotonic_ns() // 1_000_000


class BrokerServer:
    """One broker. `watch` hears of every action, right before it is carried out."""

    def __init__(
        self, node: int, settings: BrokerSettings, registry: Registry, watch: Watcher | None = None
    ) -> None:
        self.node = node
        self.core = Broker(node, settings)
        self.address: Address = ("", 0)
        self.said: list[str] = []
        """Lines of its log, and why connections were closed; the latest 100."""
        self._registry = registry
        self._watch = watch
        self._writers: dict[int, asyncio.StreamWriter] = {}
        self._numbers = itertools.count(1)
        self._queue: asyncio.Queue[BrokerAction] = asyncio.Queue()
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopped = False

    async def start(self, address: Address = ("127.0.0.1", 0)) -> None:
        """Listen. Raises OSError."""
        self._server = await asyncio.start_server(self._accept, *address)
        self.address = self._server.sockets[0].getsockname()[:2]
        self._keep(asyncio.create_task(self._carry_out()))

    async def stop(self) -> None:
        """Die: everything is closed at once."""
        self._stopped = True
        self._server.close()
        if self._timer is not None:
            self._timer.cancel()
        for writer in self._writers.values():
            writer.transport.abort()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def do(self, actions: list[BrokerAction]) -> None:
        """Carry out what the core wants, behind what it wanted before."""
        for action in actions:
            self._queue.put_nowait(action)
        self._wake()

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _wake(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        wake = self.core.wake
        if wake is not None and not self._stopped:
            delay = max(0, wake - now_ms()) / 1e3
            self._timer = asyncio.get_running_loop().call_later(
                delay, lambda: self.do(self.core.tick(now_ms()))
            )

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101
        self._keep(task)
        number = next(self._numbers)
        self._writers[number] = writer
        self.core.connected(number)
        try:
            with contextlib.suppress(ConnectionError):
                while data := await reader.read(READ):
                    self.do(self.core.receive(number, data, now_ms()))
        except asyncio.CancelledError:
            pass  # it stops
        finally:
            self._writers.pop(number, None)
            writer.close()
            if not self._stopped:
                self.do(self.core.closed(number, now_ms()))

    async def _carry_out(self) -> None:
        while True:
            action = await self._queue.get()
            if self._watch is not None:
                self._watch(self.node, action)
            if isinstance(action, Send):
                writer = self._writers.get(action.connection)
                if writer is not None and not writer.is_closing():
                    writer.write(action.data)
                    if writer.transport.get_write_buffer_size() > UNSENT_LIMIT:
                        writer.transport.abort()
            elif isinstance(action, Close):
                self._say(action.why)
                writer = self._writers.get(action.connection)
                if writer is not None:
                    writer.close()
            elif isinstance(action, StoreOffsets):
                await asyncio.to_thread(store, self._registry, action.group, action.offsets)
            elif isinstance(action, ReadOffsets):
                found = await asyncio.to_thread(load, self._registry, action.group)
                self.do(self.core.offsets(action.group, found, now_ms()))
            else:
                self._say(f"{action.level} {action.text}")

    def _say(self, line: str) -> None:
        self.said = [*self.said[-99:], line]


class Cluster:
    """Brokers 1 to n, from `async with` to its end."""

    def __init__(
        self,
        brokers: int = 2,
        *,
        topics: Mapping[str, Sequence[str]],
        settings: BrokerSettings | None = None,
        registry: Registry | None = None,
        elector: Elector | None = None,
        watch: Watcher | None = None,
    ) -> None:
        self.settings = settings or BrokerSettings()
        self.registry: Registry = registry or MemoryRegistry()
        self.servers: dict[int, BrokerServer] = {}
        self.topics = {topic: tuple(partitions) for topic, partitions in topics.items()}
        self._count = brokers
        self._watch = watch
        self._elector: Elector = elector or MemoryElector()

    @property
    def bootstrap(self) -> tuple[Address, ...]:
        """Addresses of the brokers that run."""
        return tuple(server.address for server in self.servers.values())

    @property
    def coordinator(self) -> BrokerServer | None:
        """Who coordinates."""
        leader = self._elector.leader()
        return None if leader is None else self.servers.get(leader.candidate)

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        await asyncio.to_thread(self._elector.watch, self._changed)
        for node in range(1, self._count + 1):
            await self.start(node)
        return self

    async def __aexit__(self, *problem: object) -> None:
        for server in self.servers.values():
            await server.stop()

    async def start(self, node: int) -> None:
        """Start a broker, which stands for election. Raises OSError."""
        server = BrokerServer(node, self.settings, self.registry, self._watch)
        await server.start()
        self.servers[node] = server
        await asyncio.to_thread(self._elector.enter, node)
        self.tell()

    async def stop(self, node: int) -> None:
        """A broker dies."""
        await self.servers.pop(node).stop()
        await asyncio.to_thread(self._elector.leave, node)
        self.tell()

    def grow(self, topic: str, *partitions: str) -> None:
        """A topic, new or not, has these partitions, too."""
        self.topics[topic] = (*self.topics.get(topic, ()), *partitions)
        for server in self.servers.values():
            if server.core.coordinates:
                server.do(server.core.topics(self.topics, now_ms()))

    def _changed(self) -> None:
        """An election has another outcome. Called in any thread."""
        with contextlib.suppress(RuntimeError):  # the loop may be closed by now
            self._loop.call_soon_threadsafe(self.tell)

    def tell(self) -> None:
        """All hear who coordinates, as the registry would tell them."""
        leader = self._elector.leader()
        node = -1 if leader is None else leader.candidate
        nodes = {one: server.address for one, server in self.servers.items()}
        for one, server in self.servers.items():
            server.core.cluster(nodes, node)
            if server.core.coordinates and one != node:
                server.do(server.core.resigned())
            elif one == node and not server.core.coordinates:
                server.do(server.core.elected(self.topics, now_ms()))
