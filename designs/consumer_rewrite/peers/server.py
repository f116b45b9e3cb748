"""Brokers of this protocol on asyncio in one process: a port for each, a shared registry, and elections.

    async with Cluster(2, topics={"t": 4}) as cluster:
        cluster.bootstrap        # ("127.0.0.1", port) of each
        await cluster.partitions("t", 5)    # in the registry, which notifies the brokers
        await cluster.stop(1)    # its connections are closed, others are elected, until it is started again

The cores are in `coordinator`; this module performs their actions.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from barnabas.captures.kafka.wording import group_name
from barnabas.designs.brokers import cluster, server
from barnabas.designs.brokers.cluster import Session
from barnabas.designs.brokers.listener import Address, Core, Log, call_in, now_ms
from barnabas.designs.brokers.registry import (
    Elector,
    Entry,
    MemoryElector,
    MemoryRegistry,
    Registry,
)
from barnabas.designs.brokers.registry.paths import name_of
from barnabas.designs.consumer_rewrite.peers.actions import BrokerAction, Load, ReadTopics, Write
from barnabas.designs.consumer_rewrite.peers.coordinator import Broker, slot_of
from barnabas.designs.consumer_rewrite.peers.election import rank_for
from barnabas.designs.consumer_rewrite.peers.group_entry import PATH, path_of
from barnabas.designs.consumer_rewrite.peers.settings import BrokerSettings

Watcher = Callable[[int, BrokerAction], None]

Result = TypeVar("Result")


class BrokerServer(server.BrokerServer[Broker, BrokerAction]):
    """A broker of the rewrite; there is an election for each slot."""

    def __init__(
        self,
        node: int,
        settings: BrokerSettings,
        registry: Registry,
        watch: Watcher | None = None,
        ended: Callable[[int], None] = lambda node: None,
        front: Callable[[Broker], Core[BrokerAction]] = lambda core: core,
    ) -> None:
        core = Broker(node, settings, new_id=lambda: str(uuid.uuid4()))
        super().__init__(node, core, registry, watch, ended, front)
        self._terms: dict[int, int] = {}
        """The term in which it leads, by slot."""
        self._unread = False
        """The topics are to be read when it leads again."""
        self._lost: asyncio.Future[None] | None = None
        """Notifies waiting registry requests that a slot has another leader."""

    async def start(self, address: Address = ("127.0.0.1", 0)) -> None:
        """Listen, and watch the topics in the registry. Raises OSError."""
        await super().start(address)
        self.listener.do([ReadTopics()])

    def set_cluster(self, nodes: Mapping[int, Address], leaders: server.Leaders) -> None:
        """Set the live brokers with their addresses, and the leader of each slot."""
        leading = {
            slot: slot_leader.candidate
            for slot, slot_leader in leaders.items()
            if slot_leader is not None
        }
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
        call_in(self._loop, lambda: self.listener.do([ReadTopics()]))

    async def _carry_out(self, action: BrokerAction) -> None:
        """Perform an action. The next one waits: a response is sent after its facts are written."""
        if isinstance(action, Write | Load | ReadTopics):
            self._seen(action)
        if isinstance(action, Write):
            await self._write(action)
        elif isinstance(action, Load):
            await self._load(action)
        elif isinstance(action, ReadTopics):
            await self._read_topics()
        else:
            await super()._carry_out(action)

    async def _read_topics(self) -> None:
        """Read the topics; until they can be read, the known ones stay."""
        try:
            names = await self._ask_registry(self._topics.read, lambda: bool(self.core.slots))
        except Exception as problem:  # noqa: BLE001 - registries have errors of their own
            self._say(f"ERROR topics in the registry: {problem}")
            self._loop.call_later(server.AGAIN, self._topics_changed)
            return
        self._unread = names is None
        if names is None:
            return
        topics = {topic: len(partitions) for topic, partitions in names.items()}
        self.listener.do(self.core.topics(topics, now_ms()))

    async def _write(self, action: Write) -> None:
        slot = slot_of(action.group, self.core.settings.slots)
        write = partial(self._registry.write, path_of(action.group), action.data, action.version)
        if slot in self.core.slots and await self._ask_registry(
            write, lambda: slot in self.core.slots
        ):
            self.listener.do(self.core.written(action.group, now_ms()))
            return
        # Another broker coordinates this group: no later response may be sent. That may be true of
        # other groups and slots, too: all are loaded again, until the controller names the leaders.
        self.listener.abort()
        reason = (
            f"{group_name(action.group)}: another broker coordinates it: closes all connections"
        )
        self.listener.do([Log("INFO", reason)])
        slots = self.core.slots
        self._unread = not slots
        if slots:
            self.listener.do([ReadTopics()])  # a waiting one has gone with the others
        for slot in slots:
            self.core.resigned(slot, now_ms())
        for slot in slots:
            self.listener.do(self.core.elected(slot))

    async def _ask_registry(
        self, ask: Callable[[], Result], leads: Callable[[], bool]
    ) -> Result | None:
        """Return the registry's response; None if this broker loses the lead before it.

        A lost registry does not respond until it is back, and everything else would wait as long. A late
        write is visible to the new leader, which claims each entry.
        """
        registry_call = asyncio.create_task(asyncio.to_thread(ask))
        registry_call.add_done_callback(
            lambda call: call.cancelled() or call.exception()
        )  # the caller may have gone
        while not registry_call.done():
            self._lost = self._loop.create_future()
            either: set[asyncio.Future[Any]] = {registry_call, self._lost}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not registry_call.done() and not leads():
                return None
        return registry_call.result()

    async def _load(self, action: Load) -> None:
        def claim() -> dict[str, Entry] | None:
            """Write every entry unchanged, so that the former leader can't change it."""
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
            entries = await self._ask_registry(claim, lambda: action.slot in self.core.slots)
        self.listener.do(self.core.loaded(action.slot, entries, now_ms()))


class Cluster(cluster.Cluster[BrokerServer]):
    """Brokers of the rewrite in one process. topics: numbers of partitions at the beginning."""

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
        self._watch = watch
        self._electors = electors or {
            slot: MemoryElector(rank_for(slot)) for slot in range(self.settings.slots)
        }
        names = {topic: map(str, range(count)) for topic, count in topics.items()}
        super().__init__(brokers, names, Session(registry or MemoryRegistry(), self._electors))

    def coordinator(self, group: str) -> int | None:
        """Return the node that leads a group's slot."""
        leader = self._electors[slot_of(group, self.settings.slots)].leader()
        return None if leader is None else leader.candidate

    async def partitions(self, topic: str, count: int) -> None:
        """Increase a topic's number of partitions in the registry."""
        await self.grow(topic, *map(str, range(count)))

    def _server(self, node: int, session: Session) -> BrokerServer:
        return BrokerServer(node, self.settings, session.registry, self._watch, self._ended)
