"""Brokers of this protocol on asyncio: a port each, and a registry and an election that they share.

async with Cluster(2, topics={"t": ("0-0", "0-1")}) as cluster:
    cluster.bootstrap        # ("127.0.0.1", port) of each
    await cluster.stop(1)    # it dies; if it coordinated, another one does
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Self

from peers.central_coordination.actions import BrokerAction, ReadOffsets, StoreOffsets
from peers.central_coordination.coordinator import Broker
from peers.central_coordination.offsets import load, store
from peers.central_coordination.settings import BrokerSettings
from peers.listener import Address, Close, Listener, Send, now_ms
from peers.registry import Elector, MemoryElector, MemoryRegistry, Registry

Watcher = Callable[[int, BrokerAction], None]


class BrokerServer:
    """One broker. `watch` hears of every action, right before it is carried out."""

    def __init__(
        self, node: int, settings: BrokerSettings, registry: Registry, watch: Watcher | None = None
    ) -> None:
        self.node = node
        self.core = Broker(node, settings)
        self.listener: Listener[BrokerAction] = Listener(self.core, self._carry_out)
        self.said: list[str] = []
        """Lines of its log, and why connections were closed; the latest 100."""
        self._registry = registry
        self._watch = watch

    async def _carry_out(self, action: BrokerAction) -> None:
        if self._watch is not None:
            self._watch(self.node, action)
        if isinstance(action, Send):
            self.listener.send(action)
        elif isinstance(action, Close):
            self._say(action.why)
            self.listener.close(action)
        elif isinstance(action, StoreOffsets | ReadOffsets):
            await self._ask_registry(action)
        else:
            self._say(f"{action.level} {action.text}")

    async def _ask_registry(self, action: StoreOffsets | ReadOffsets) -> None:
        """Store or read offsets. What fails is that group's failure; the broker goes on with the others."""
        group = action.group
        try:
            if isinstance(action, StoreOffsets):
                await asyncio.to_thread(store, self._registry, group, action.offsets)
                return
            found = await asyncio.to_thread(load, self._registry, group)
        except Exception as problem:  # noqa: BLE001 - registries have errors of their own
            why = f"offsets of {group} in the registry: {problem}"
            self.listener.do(self.core.no_offsets(group, why, now_ms()))
            return
        self.listener.do(self.core.offsets(group, found, now_ms()))

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
        return tuple(server.listener.address for server in self.servers.values())

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
            await server.listener.stop()

    async def start(self, node: int) -> None:
        """Start a broker, which stands for election. Raises OSError."""
        server = BrokerServer(node, self.settings, self.registry, self._watch)
        await server.listener.start()
        self.servers[node] = server
        await asyncio.to_thread(self._elector.enter, node)
        self.tell()

    async def stop(self, node: int) -> None:
        """A broker dies."""
        await self.servers.pop(node).listener.stop()
        await asyncio.to_thread(self._elector.leave, node)
        self.tell()

    def grow(self, topic: str, *partitions: str) -> None:
        """A topic, new or not, has these partitions, too."""
        self.topics[topic] = (*self.topics.get(topic, ()), *partitions)
        for server in self.servers.values():
            if server.core.coordinates:
                server.listener.do(server.core.topics(self.topics, now_ms()))

    def _changed(self) -> None:
        """An election has another outcome. Called in any thread."""
        with contextlib.suppress(RuntimeError):  # the loop may be closed by now
            self._loop.call_soon_threadsafe(self.tell)

    def tell(self) -> None:
        """All hear who coordinates, as the registry would tell them."""
        leader = self._elector.leader()
        node = -1 if leader is None else leader.candidate
        nodes = {one: server.listener.address for one, server in self.servers.items()}
        for one, server in self.servers.items():
            server.core.cluster(nodes, node)
            if server.core.coordinates and one != node:
                server.listener.do(server.core.resigned())
            elif one == node and not server.core.coordinates:
                server.listener.do(server.core.elected(self.topics, now_ms()))
