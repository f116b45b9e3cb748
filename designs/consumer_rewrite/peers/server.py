"""Brokers of this protocol on asyncio: one process, a port each, a registry and elections that they share.

    async with Cluster(2, topics={"t": 4}) as cluster:
        cluster.bootstrap        # ("127.0.0.1", port) of each
        await cluster.partitions("t", 5)    # in the registry: the brokers' watches tell them
        await cluster.stop(1)    # its connections are closed, others are elected, until it is started again

The cores are in `coordinator`; here are sockets, timers, and what is carried out of actions.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, Self, TypeVar

from barnabas.captures.kafka.wording import group_name
from barnabas.designs.brokers.ended_brokers import EndedBrokers
from barnabas.designs.brokers.listener import (
    Address,
    Close,
    Core,
    Listener,
    Log,
    Send,
    call_in,
    now_ms,
)
from barnabas.designs.brokers.registry import (
    Elector,
    Entry,
    Leader,
    MemoryElector,
    MemoryRegistry,
    Registry,
)
from barnabas.designs.brokers.registry.paths import name_of
from barnabas.designs.brokers.registry.topics import Topics
from barnabas.designs.consumer_rewrite.peers.actions import BrokerAction, Load, ReadTopics, Write
from barnabas.designs.consumer_rewrite.peers.coordinator import Broker, slot_of
from barnabas.designs.consumer_rewrite.peers.election import rank_for
from barnabas.designs.consumer_rewrite.peers.group_entry import PATH, path_of
from barnabas.designs.consumer_rewrite.peers.settings import BrokerSettings

Watcher = Callable[[int, BrokerAction], None]

Found = TypeVar("Found")

AGAIN: Final = 1.0
"""s until topics that could not be read are read again."""


class BrokerServer:
    """One broker. `watch` hears of every action, right before it is carried out; `ended` of its own end.

    front: puts another core in front of its own, as `barnabas.designs.brokers.logs.broker` is one.
    If `watch` raises asyncio.CancelledError, neither that one nor any behind it is: the broker is as good as
    dead, and `Cluster.stop` closes its connections.
    """

    def __init__(
        self,
        node: int,
        settings: BrokerSettings,
        registry: Registry,
        watch: Watcher | None = None,
        ended: Callable[[int], None] = lambda node: None,
        front: Callable[[Broker], Core[BrokerAction]] = lambda core: core,
    ) -> None:
        self.node = node
        self.core = Broker(node, settings, new_id=lambda: str(uuid.uuid4()))
        self.listener: Listener[BrokerAction] = Listener(
            front(self.core), self._carry_out, lambda: ended(node)
        )
        self.said: list[str] = []
        """Lines of its log, and why connections were closed; the latest 100."""
        self._registry = registry
        self._topics = Topics(registry, self._topics_changed)
        self._watch = watch
        self._terms: dict[int, int] = {}
        """Slot -> the term in which it was told to lead."""
        self._unread = False
        """The topics are to be read when it leads again."""
        self._lost: asyncio.Future[None] | None = None
        """Who asks the registry hears by it that a slot is another's."""

    async def start(self, address: Address = ("127.0.0.1", 0)) -> None:
        """Listen, and watch the topics in the registry. Raises OSError."""
        self._loop = asyncio.get_running_loop()
        await self.listener.start(address)
        self.listener.do([ReadTopics()])

    def told(self, nodes: Mapping[int, Address], leaders: Mapping[int, Leader | None]) -> None:
        """The controller says which brokers there are, with their addresses, and who leads each slot."""
        leading = {slot: one.candidate for slot, one in leaders.items() if one is not None}
        self.core.cluster(nodes, leading)
        for slot, leader in leaders.items():
            term = leader.term if leader is not None and leader.candidate == self.node else None
            before = self._terms.get(slot)
            if before == term:
                continue
            self._terms.pop(slot, None)
            if before is not None:
                self.listener.do(self.core.resigned(slot, now_ms()))
                if self._lost is not None and not self._lost.done():
                    self._lost.set_result(None)
            if term is not None:
                self._terms[slot] = term
                if self._unread:
                    self._unread = False
                    self.listener.do([ReadTopics()])
                self.listener.do(self.core.elected(slot))

    def _topics_changed(self) -> None:
        """A topic or a partition is new. Called in any thread."""
        call_in(self._loop, lambda: self.listener.do([ReadTopics()]))

    async def _carry_out(self, action: BrokerAction) -> None:
        """An answer leaves when what it speaks of is written: the next action waits for this one."""
        if self._watch is not None:
            self._watch(self.node, action)
        if isinstance(action, Send):
            self.listener.send(action)
        elif isinstance(action, Close):
            self._say(action.why)
            self.listener.close(action)
        elif isinstance(action, Write):
            await self._write(action)
        elif isinstance(action, Load):
            await self._load(action)
        elif isinstance(action, Log):
            self._say(f"{action.level} {action.text}")
        else:
            await self._read_topics()

    async def _read_topics(self) -> None:
        """While they can't be read, those that are known stand."""
        try:
            names = await self._asked(self._topics.read, lambda: bool(self.core.slots))
        except Exception as problem:  # noqa: BLE001 - registries have errors of their own
            self._say(f"ERROR topics in the registry: {problem}")
            self._loop.call_later(AGAIN, self._topics_changed)
            return
        self._unread = names is None
        if names is None:
            return
        topics = {topic: len(partitions) for topic, partitions in names.items()}
        self.listener.do(self.core.topics(topics, now_ms()))

    def _say(self, line: str) -> None:
        self.said = [*self.said[-99:], line]

    async def _write(self, action: Write) -> None:
        slot = slot_of(action.group, self.core.settings.slots)
        write = partial(self._registry.write, path_of(action.group), action.data, action.version)
        if slot in self.core.slots and await self._asked(write, lambda: slot in self.core.slots):
            self.listener.do(self.core.written(action.group, now_ms()))
            return
        # Somebody else coordinates this group: nothing of what was to follow may be said. That may be of
        # other groups and slots, too: all are loaded anew, until the controller tells who leads.
        self.listener.abort()
        why = f"{group_name(action.group)}: another broker coordinates it: closes all connections"
        self.listener.do([Log("INFO", why)])
        slots = self.core.slots
        self._unread = not slots
        if slots:
            self.listener.do([ReadTopics()])  # one that waited is gone with the others
        for slot in slots:
            self.core.resigned(slot, now_ms())
        for slot in slots:
            self.listener.do(self.core.elected(slot))

    async def _asked(self, ask: Callable[[], Found], leads: Callable[[], bool]) -> Found | None:
        """What the registry says; None if this broker does not lead any longer before it does.

        A registry that is gone says nothing until it is back, and all else would wait as long. What it then
        writes after all is seen by who leads by then, which claims each entry.
        """
        asked = asyncio.create_task(asyncio.to_thread(ask))
        asked.add_done_callback(lambda one: one.cancelled() or one.exception())  # nobody may ask
        while not asked.done():
            self._lost = self._loop.create_future()
            either: set[asyncio.Future[Any]] = {asked, self._lost}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not asked.done() and not leads():
                return None
        return asked.result()

    async def _load(self, action: Load) -> None:
        def claim() -> dict[str, Entry] | None:
            """Write every entry as it is, so that who led before can change nothing."""
            entries = {}
            for name in self._registry.children(PATH):
                group = name_of(name)
                if slot_of(group, self.core.settings.slots) != action.slot:
                    continue
                entry = self._registry.read(path_of(group))
                if entry is None:
                    continue
                if not self._registry.write(path_of(group), entry.data, entry.version):
                    return None  # it has just written: once more
                entries[group] = Entry(entry.data, entry.version + 1)
            return entries

        entries = None
        while entries is None:
            if action.slot not in self.core.slots:
                return
            entries = await self._asked(claim, lambda: action.slot in self.core.slots)
        self.listener.do(self.core.loaded(action.slot, entries, now_ms()))


class Cluster:
    """Brokers 1 to n, from `async with` to its end; it is the controller, too.

    topics: what the registry is to have from the beginning, with numbers of partitions.
    """

    def __init__(
        self,
        brokers: int = 2,
        *,
        topics: Mapping[str, int],
        settings: BrokerSettings | None = None,
        registry: Registry | None = None,
        electors: Mapping[int, Elector] | None = None,
        watch: Watcher | None = None,
    ) -> None:
        self.settings = settings or BrokerSettings()
        self.registry: Registry = registry or MemoryRegistry()
        self.servers: dict[int, BrokerServer] = {}
        self._endings = EndedBrokers()
        self.failures = self._endings.failures
        """Why brokers have ended themselves."""
        self._topics = dict(topics)
        self._count = brokers
        self._watch = watch
        self._electors = electors or {
            slot: MemoryElector(rank_for(slot)) for slot in range(self.settings.slots)
        }

    @property
    def bootstrap(self) -> tuple[Address, ...]:
        """Addresses of the brokers that run."""
        return tuple(server.listener.address for server in self.servers.values())

    def coordinator(self, group: str) -> int | None:
        """The node that leads a group's slot."""
        leader = self._electors[slot_of(group, self.settings.slots)].leader()
        return None if leader is None else leader.candidate

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        for elector in self._electors.values():
            await asyncio.to_thread(elector.watch, self._changed)
        for topic, count in self._topics.items():
            await self.partitions(topic, count)
        for node in range(1, self._count + 1):
            await self.start(node)
        return self

    async def __aexit__(self, *problem: object) -> None:
        for server in self.servers.values():
            await server.listener.stop()
        await self._endings.cancel()

    async def start(self, node: int, address: Address = ("127.0.0.1", 0)) -> None:
        """Start a broker, which stands for all elections. Raises OSError."""
        server = BrokerServer(node, self.settings, self.registry, self._watch, self._ended)
        await server.start(address)
        self.servers[node] = server
        for elector in self._electors.values():
            await asyncio.to_thread(elector.enter, node)
        self.tell()

    async def stop(self, node: int) -> None:
        """A broker dies, and others are elected."""
        await self._leave(node, self.servers.pop(node))

    async def _leave(self, node: int, server: BrokerServer) -> None:
        await server.listener.stop()
        for elector in self._electors.values():
            await asyncio.to_thread(elector.leave, node)
        self.tell()

    def _ended(self, node: int) -> None:
        """A broker has ended itself: it stands for election no longer."""
        server = self.servers.pop(node)
        self._endings.note(node, server.listener.failure, self._leave(node, server))

    async def partitions(self, topic: str, count: int) -> None:
        """A topic has so many partitions from now on, in the registry: they never become less."""
        await asyncio.to_thread(Topics(self.registry).grow, topic, *map(str, range(count)))

    def _changed(self) -> None:
        """An election has another outcome. Called in any thread."""
        call_in(self._loop, self.tell)

    def tell(self) -> None:
        """The controller tells all brokers who leads."""
        nodes = {node: server.listener.address for node, server in self.servers.items()}
        leaders = {slot: elector.leader() for slot, elector in self._electors.items()}
        for server in self.servers.values():
            server.told(nodes, leaders)
