"""Brokers of a design in one process: a port for each, and a shared registry with elections."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, Generic, NamedTuple, Self, TypeVar

from barnabas.designs.brokers.listener import Address, call_in
from barnabas.designs.brokers.registry import Elector, Registry
from barnabas.designs.brokers.registry.topics import Topics
from barnabas.designs.brokers.server import BrokerServer

Server = TypeVar("Server", bound=BrokerServer[Any, Any])


class Session(NamedTuple):
    """A broker's view of ZooKeeper: the registry, and the elections by number."""

    registry: Registry
    electors: Mapping[int, Elector]


class Cluster(ABC, Generic[Server]):
    """Brokers 1 to n, from `async with` to its end. The cluster is the controller, too.

    Args:
        topics: The partitions of each topic that the registry has from the beginning.
        shared: The session of every broker that has none in `sessions`.
        sessions: Sessions by node, with registries of the same contents.
    """

    def __init__(
        self,
        brokers: int,
        topics: Mapping[str, Iterable[str]],
        shared: Session,
        sessions: Mapping[int, Session] | None = None,
    ) -> None:
        self.registry = shared.registry
        self.servers: dict[int, Server] = {}
        self.failures: dict[int, Exception | None] = {}
        """The reasons of brokers that have ended themselves, by node."""
        self._count = brokers
        self._topics = {topic: tuple(partitions) for topic, partitions in topics.items()}
        self._shared = shared
        self._sessions = dict(sessions or {})
        self._leaving: set[asyncio.Task[None]] = set()

    @abstractmethod
    def _server(self, node: int, session: Session) -> Server:
        """Make a broker, which calls `_ended` if it ends itself."""

    @property
    def bootstrap(self) -> tuple[Address, ...]:
        """Return the addresses of the brokers that run."""
        return tuple(server.listener.address for server in self.servers.values())

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        sessions = (self._shared, *self._sessions.values())
        for elector in {
            candidate for session in sessions for candidate in session.electors.values()
        }:
            await asyncio.to_thread(elector.watch, lambda: call_in(self._loop, self.tell))
        for topic, partitions in self._topics.items():
            await self.grow(topic, *partitions)
        for node in range(1, self._count + 1):
            await self.start(node)
        return self

    async def __aexit__(self, *problem: object) -> None:
        for server in self.servers.values():
            await server.stop()
        for task in self._leaving:
            task.cancel()
        await asyncio.gather(*self._leaving, return_exceptions=True)

    async def start(self, node: int, address: Address = ("127.0.0.1", 0)) -> None:
        """Start a broker, which stands for all elections. Raises OSError."""
        server = self._server(node, self._session(node))
        await server.start(address)
        self.servers[node] = server
        for elector in self._session(node).electors.values():
            await asyncio.to_thread(elector.enter, node)
        self.tell()

    async def stop(self, node: int) -> None:
        """Stop a broker as if it had died, and let others be elected."""
        await self._leave(node, self.servers.pop(node))

    async def grow(self, topic: str, *partitions: str) -> None:
        """Add a topic, or partitions to it, in the registry, which notifies the brokers."""
        await asyncio.to_thread(Topics(self.registry).grow, topic, *partitions)

    def tell(self) -> None:
        """Notify every broker of the live brokers and of the leaders that its session knows."""
        nodes = {node: server.listener.address for node, server in self.servers.items()}
        for node, server in self.servers.items():
            electors = self._session(node).electors
            server.set_cluster(
                nodes, {number: elector.leader() for number, elector in electors.items()}
            )

    def _session(self, node: int) -> Session:
        return self._sessions.get(node, self._shared)

    async def _leave(self, node: int, server: Server) -> None:
        await server.stop()
        for elector in self._session(node).electors.values():
            await asyncio.to_thread(elector.leave, node)
        self.tell()

    def _ended(self, node: int) -> None:
        """Remove a broker that has ended itself from its elections."""
        server = self.servers.pop(node)
        self.failures[node] = server.listener.failure
        task = asyncio.create_task(self._leave(node, server))
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)
