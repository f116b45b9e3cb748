"""Brokers of this protocol on asyncio: a port for each, a shared registry, and one election.

async with Cluster(2, topics={"t": ("0-0", "0-1")}) as cluster:
    cluster.bootstrap        # ("127.0.0.1", port) of each
    await cluster.grow("t", "1-0")    # in the registry, which notifies the coordinator
    await cluster.stop(1)    # it dies; if it coordinated, another one does
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from barnabas.designs.brokers import cluster, server
from barnabas.designs.brokers.cluster import Session
from barnabas.designs.brokers.listener import Address, Core, call_in, now_ms
from barnabas.designs.brokers.registry import Elector, MemoryElector, MemoryRegistry, Registry
from barnabas.designs.central_coordination.peers.actions import (
    BrokerAction,
    ReadOffsets,
    StoreOffsets,
)
from barnabas.designs.central_coordination.peers.coordinator import Broker
from barnabas.designs.central_coordination.peers.offsets import load, store
from barnabas.designs.central_coordination.peers.settings import BrokerSettings

Watcher = Callable[[int, BrokerAction], None]


class BrokerServer(server.BrokerServer[Broker, BrokerAction]):
    """A broker of central coordination; there is one election."""

    def __init__(
        self,
        node: int,
        settings: BrokerSettings,
        registry: Registry,
        watch: Watcher | None = None,
        ended: Callable[[int], None] = lambda node: None,
        front: Callable[[Broker], Core[BrokerAction]] = lambda core: core,
    ) -> None:
        super().__init__(node, Broker(node, settings), registry, watch, ended, front)
        self._news = asyncio.Event()
        """The topics are to be read."""
        self._term: int | None = None
        """The term in which it leads."""
        self._asks: dict[str, deque[StoreOffsets | ReadOffsets]] = {}
        """Requests to the registry by group: in order, and groups do not wait for each other."""

    async def start(self, address: Address = ("127.0.0.1", 0)) -> None:
        """Listen. Raises OSError."""
        await super().start(address)
        self._task = asyncio.create_task(self._follow())

    async def stop(self) -> None:
        """Close all connections at once. Raises the error that ended the reading of topics."""
        self._task.cancel()
        await super().stop()
        await asyncio.wait([self._task])
        if not self._task.cancelled():
            self._task.result()

    def set_cluster(self, nodes: Mapping[int, Address], leaders: server.Leaders) -> None:
        """Set the live brokers with their addresses, and the leader."""
        leader = leaders[0]
        self.core.cluster(nodes, -1 if leader is None else leader.candidate)
        term = leader.term if leader is not None and leader.candidate == self.node else None
        if term == self._term:
            return
        self._term = term
        if self.core.coordinates:
            self.listener.abort()
            self._asks.clear()
            self.listener.do(self.core.resigned())
        if term is not None:
            self._news.set()

    def _topics_changed(self) -> None:
        call_in(self._loop, self._news.set)

    async def _follow(self) -> None:
        """Read the topics before coordinating, and again after each change, if this broker leads."""
        while True:
            await self._news.wait()
            self._news.clear()
            term = self._term
            if term is None:
                continue
            try:
                topics = await asyncio.to_thread(self._topics.read)
            except Exception as problem:  # noqa: BLE001 - registries have errors of their own
                self._say(f"ERROR topics in the registry: {problem}")
                self._loop.call_later(server.AGAIN, self._news.set)
                continue
            if term == self._term:  # else it was notified meanwhile
                begin = self.core.topics if self.core.coordinates else self.core.elected
                self.listener.do(begin(topics, now_ms()))

    async def _carry_out(self, action: BrokerAction) -> None:
        """Perform an action. A request to the registry is queued after those of the same group."""
        if not isinstance(action, StoreOffsets | ReadOffsets):
            await super()._carry_out(action)
        elif action.group in self._asks:
            self._asks[action.group].append(action)
        else:
            asks = self._asks[action.group] = deque((action,))
            self.listener.run_concurrently(self._ask_registry(action.group, asks))

    async def _ask_registry(self, group: str, asks: deque[StoreOffsets | ReadOffsets]) -> None:
        """Store or read offsets. A failure affects that group only."""
        while self._asks.get(group) is asks:  # else it has resigned: the groups are gone
            if not asks:
                del self._asks[group]
                return
            action = asks.popleft()
            self._seen(action)
            try:
                if isinstance(action, StoreOffsets):
                    await asyncio.to_thread(store, self._registry, group, action.offsets)
                    continue
                offsets = await asyncio.to_thread(load, self._registry, group)
            except Exception as problem:  # noqa: BLE001 - registries have errors of their own
                if self._asks.get(group) is asks:
                    reason = f"offsets of {group} in the registry: {problem}"
                    self.listener.do(self.core.no_offsets(group, reason, now_ms()))
                continue
            if self._asks.get(group) is asks:
                self.listener.do(self.core.offsets(action, offsets, now_ms()))


class Cluster(cluster.Cluster[BrokerServer]):
    """Brokers of central coordination in one process."""

    def __init__(
        self,
        brokers: int = 2,
        *,
        topics: Mapping[str, Sequence[str]],
        settings: BrokerSettings | None = None,
        registry: Registry | None = None,
        elector: Elector | None = None,
        sessions: Mapping[int, Session] | None = None,
        watch: Watcher | None = None,
    ) -> None:
        shared = Session(registry or MemoryRegistry(), {0: elector or MemoryElector()})
        super().__init__(brokers, topics, shared, sessions)
        self.settings = settings or BrokerSettings()
        self._watch = watch

    @property
    def coordinator(self) -> BrokerServer | None:
        """Return the broker that coordinates; None: there is none yet."""
        acting = (server for server in self.servers.values() if server.core.coordinates)
        return next(acting, None)

    def _server(self, node: int, session: Session) -> BrokerServer:
        return BrokerServer(node, self.settings, session.registry, self._watch, self._ended)
