"""Brokers of this protocol on asyncio: a port each, and a registry and an election that they share.

async with Cluster(2, topics={"t": ("0-0", "0-1")}) as cluster:
    cluster.bootstrap        # ("127.0.0.1", port) of each
    await cluster.grow("t", "1-0")    # in the registry; who coordinates hears of it
    await cluster.stop(1)    # it dies; if it coordinated, another one does
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, Self

from barnabas.designs.brokers.ended_brokers import EndedBrokers
from barnabas.designs.brokers.listener import Address, Close, Core, Listener, Send, call_in, now_ms
from barnabas.designs.brokers.registry import (
    Elector,
    Leader,
    MemoryElector,
    MemoryRegistry,
    Registry,
)
from barnabas.designs.brokers.registry.topics import Topics
from barnabas.designs.central_coordination.peers.actions import (
    BrokerAction,
    ReadOffsets,
    StoreOffsets,
)
from barnabas.designs.central_coordination.peers.coordinator import Broker
from barnabas.designs.central_coordination.peers.offsets import load, store
from barnabas.designs.central_coordination.peers.settings import BrokerSettings

Watcher = Callable[[int, BrokerAction], None]

AGAIN: Final = 1.0
"""s until topics that could not be read are read again."""


class Session(NamedTuple):
    """What a broker has of ZooKeeper, or of what stands for it."""

    registry: Registry
    elector: Elector


class BrokerServer:
    """One broker. `watch` hears of every action, right before it is carried out; `ended` of its own end.

    front: puts another core in front of its own, as `barnabas.designs.brokers.logs.broker` is one.
    """

    def __init__(
        self,
        node: int,
        settings: BrokerSettings,
        session: Session,
        watch: Watcher | None = None,
        ended: Callable[[int], None] = lambda node: None,
        front: Callable[[Broker], Core[BrokerAction]] = lambda core: core,
    ) -> None:
        self.node = node
        self.session = session
        self.core = Broker(node, settings)
        self.listener: Listener[BrokerAction] = Listener(
            front(self.core), self._carry_out, lambda: ended(node)
        )
        self.said: list[str] = []
        """Lines of its log, and why connections were closed; the latest 100."""
        self._watch = watch
        self._topics = Topics(session.registry, self._changed)
        self._news = asyncio.Event()
        """The topics are to be read."""
        self._term: int | None = None
        """In which it leads."""
        self._asks: dict[str, deque[StoreOffsets | ReadOffsets]] = {}
        """What is asked of the registry, by group: one behind the other, and no group waits for another."""

    async def start(self, address: Address = ("127.0.0.1", 0)) -> None:
        """Listen. Raises OSError."""
        self._loop = asyncio.get_running_loop()
        await self.listener.start(address)
        self._task = asyncio.create_task(self._follow())

    async def stop(self) -> None:
        """Die: everything is closed at once."""
        self._task.cancel()
        await self.listener.stop()
        await asyncio.wait([self._task])
        if not self._task.cancelled():
            self._task.result()  # it had ended by itself: raises why

    def told(self, nodes: Mapping[int, Address], leader: Leader | None) -> None:
        """The brokers with their addresses, and who leads, as this one's session knows."""
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

    def _changed(self) -> None:
        """Topics or partitions are new. Called in any thread."""
        call_in(self._loop, self._news.set)

    async def _follow(self) -> None:
        """Who leads reads the topics before it coordinates, and again after each change."""
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
                self._loop.call_later(AGAIN, self._news.set)
                continue
            if term == self._term:  # else it was told meanwhile
                begin = self.core.topics if self.core.coordinates else self.core.elected
                self.listener.do(begin(topics, now_ms()))

    async def _carry_out(self, action: BrokerAction) -> None:
        if isinstance(action, StoreOffsets | ReadOffsets):
            self._ask(action)
            return
        self._seen(action)
        if isinstance(action, Send):
            self.listener.send(action)
        elif isinstance(action, Close):
            self._say(action.why)
            self.listener.close(action)
        else:
            self._say(f"{action.level} {action.text}")

    def _ask(self, action: StoreOffsets | ReadOffsets) -> None:
        """Ask the registry behind what this group has asked before."""
        if action.group in self._asks:
            self._asks[action.group].append(action)
            return
        asks = self._asks[action.group] = deque((action,))
        self.listener.beside(self._ask_registry(action.group, asks))

    async def _ask_registry(self, group: str, asks: deque[StoreOffsets | ReadOffsets]) -> None:
        """Store or read offsets. What fails is that group's failure; the broker goes on with the others."""
        registry = self.session.registry
        while self._asks.get(group) is asks:  # else it has resigned: the groups that asked are gone
            if not asks:
                del self._asks[group]
                return
            action = asks.popleft()
            self._seen(action)
            try:
                if isinstance(action, StoreOffsets):
                    await asyncio.to_thread(store, registry, group, action.offsets)
                    continue
                found = await asyncio.to_thread(load, registry, group)
            except Exception as problem:  # noqa: BLE001 - registries have errors of their own
                if self._asks.get(group) is asks:
                    why = f"offsets of {group} in the registry: {problem}"
                    self.listener.do(self.core.no_offsets(group, why, now_ms()))
                continue
            if self._asks.get(group) is asks:
                self.listener.do(self.core.offsets(action, found, now_ms()))

    def _seen(self, action: BrokerAction) -> None:
        if self._watch is not None:
            self._watch(self.node, action)

    def _say(self, line: str) -> None:
        self.said = [*self.said[-99:], line]


class Cluster:
    """Brokers 1 to n, from `async with` to its end.

    topics: what the registry is to have from the beginning. sessions: brokers with a session of their own,
    in a registry of the same contents; all others share `registry` and `elector`.
    """

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
        self.settings = settings or BrokerSettings()
        self.registry: Registry = registry or MemoryRegistry()
        self.servers: dict[int, BrokerServer] = {}
        self._endings = EndedBrokers()
        self.failures = self._endings.failures
        """Why brokers have ended themselves."""
        self._topics = {topic: tuple(partitions) for topic, partitions in topics.items()}
        self._count = brokers
        self._watch = watch
        self._shared = Session(self.registry, elector or MemoryElector())
        self._sessions = dict(sessions or {})

    @property
    def bootstrap(self) -> tuple[Address, ...]:
        """Addresses of the brokers that run."""
        return tuple(server.listener.address for server in self.servers.values())

    @property
    def coordinator(self) -> BrokerServer | None:
        """Who coordinates; None: nobody, as yet."""
        acting = (server for server in self.servers.values() if server.core.coordinates)
        return next(acting, None)

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        for elector in {one.elector for one in (self._shared, *self._sessions.values())}:
            await asyncio.to_thread(elector.watch, self._changed)
        for topic, partitions in self._topics.items():
            await self.grow(topic, *partitions)
        for node in range(1, self._count + 1):
            await self.start(node)
        return self

    async def __aexit__(self, *problem: object) -> None:
        for server in self.servers.values():
            await server.stop()
        await self._endings.cancel()

    async def start(self, node: int, address: Address = ("127.0.0.1", 0)) -> None:
        """Start a broker, which stands for election. Raises OSError."""
        session = self._sessions.get(node, self._shared)
        server = BrokerServer(node, self.settings, session, self._watch, self._ended)
        await server.start(address)
        self.servers[node] = server
        await asyncio.to_thread(session.elector.enter, node)
        self.tell()

    async def stop(self, node: int) -> None:
        """A broker dies."""
        await self._leave(node, self.servers.pop(node))

    async def _leave(self, node: int, server: BrokerServer) -> None:
        await server.stop()
        await asyncio.to_thread(server.session.elector.leave, node)
        self.tell()

    def _ended(self, node: int) -> None:
        """A broker has ended itself: it stands for election no longer."""
        server = self.servers.pop(node)
        self._endings.note(node, server.listener.failure, self._leave(node, server))

    async def grow(self, topic: str, *partitions: str) -> None:
        """A topic, new or not, has these partitions, too, in the registry: brokers hear of it there."""
        await asyncio.to_thread(Topics(self.registry).grow, topic, *partitions)

    def _changed(self) -> None:
        """An election has another outcome. Called in any thread."""
        call_in(self._loop, self.tell)

    def tell(self) -> None:
        """All hear who the brokers are, and who coordinates."""
        nodes = {node: server.listener.address for node, server in self.servers.items()}
        for server in self.servers.values():
            server.told(nodes, server.session.elector.leader())
