"""A broker of a design with its own ZooKeeper session: live brokers, elections, logs.

node = Node(client, "/barnabas/rewrite", "rewrite", 1, 3, folder, say)
await node.listen(("127.0.0.1", 0), 10)
await node.stop()
"""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from barnabas.designs.brokers.listener import Address, Close, Log, call_in, now_ms
from barnabas.designs.brokers.logs.broker import LogBroker
from barnabas.designs.brokers.logs.files import Logs
from barnabas.designs.brokers.logs.metadata import leader_of
from barnabas.designs.brokers.processes.designs import DesignParts, design_of
from barnabas.designs.brokers.processes.session import LostDataError, forgotten
from barnabas.designs.brokers.registry.broker_ids import BrokerIds, TakenError
from barnabas.designs.brokers.registry.topics import Topics
from barnabas.designs.brokers.registry.zookeeper import ZooKeeperElector, ZooKeeperRegistry
from barnabas.designs.brokers.server import Leaders
from barnabas.plural import plural

if TYPE_CHECKING:
    from collections.abc import Callable

    from kazoo.client import KazooClient

HANDOVER: Final = 0.1
"""Seconds between attempts to get partitions that another process has."""

PATIENCE: Final = 30
"""Attempts before a report: a process that has exited holds no files."""

FAILED: Final = 5.0
"""s until files are tried again that could not be opened."""

AGAIN: Final = 1.0
"""s until topics that could not be read are read again, and until ZooKeeper is looked for that is lost."""

GONE: Final = "connection closed"
"""The reason for closing a connection that the client has closed."""


class Node:
    """A broker in this process. say: receives log lines for the operator."""

    def __init__(
        self,
        client: KazooClient,
        root: str,
        design: str,
        node: int,
        brokers: int,
        folder: Path,
        say: Callable[[str], None],
    ) -> None:
        self.node = node
        self.ended = asyncio.Event()
        """Set when the broker has ended itself."""
        self._design = design_of(design)
        self._brokers = brokers
        self._tell_person = say
        self._said = ""
        self._client = client
        self._root = root
        self._logs = Logs(folder, lambda line: call_in(self._loop, partial(self._say, line)))
        self._topics: dict[str, int] = {}
        self._leads: tuple[int, ...] = ()
        self._live: tuple[int, ...] = ()
        self._again: asyncio.TimerHandle | None = None
        """The next look for logs that could not be opened."""
        self._held = 0
        """Successive attempts in which another process had some of its logs."""
        self._connected = True
        self._news = asyncio.Event()
        """Set on changes of brokers, elections, or topics."""
        self._unopened = asyncio.Event()
        """Logs are to be opened."""
        self._unread = asyncio.Event()
        """The topics are to be read."""

    @property
    def address(self) -> Address:
        """Return the address that the broker listens on."""
        return self._server.listener.address

    @property
    def failure(self) -> BaseException | None:
        """Return the reason why the broker has ended itself; None: it has not."""
        failure: BaseException | None = self._server.listener.failure
        for task in self._tasks:
            if failure is None and task.done() and not task.cancelled():
                failure = task.exception()
        return failure

    async def listen(self, address: Address, patience: float) -> None:
        """Listen, register, and stand for all elections.

        patience: seconds to wait for the end of an earlier session with the same id. Raises OSError,
        TakenError if another broker has the id, and kazoo's errors.
        """
        self._loop = asyncio.get_running_loop()
        registry = ZooKeeperRegistry(self._client, self._root)
        await asyncio.to_thread(self._prepare, registry)
        self._server = self._design.make(
            DesignParts(
                self.node,
                self._brokers,
                registry,
                self._electors,
                self._logs,
                self._watch,
                lambda _: self.ended.set(),
            )
        )
        self._front: LogBroker = self._server.front
        await self._server.start(address)
        await asyncio.to_thread(self._ids.register, self.node, self.address, patience)
        for elector in self._electors.values():
            await asyncio.to_thread(elector.enter, self.node)
        self._news.set()
        self._unread.set()
        works = self._follow(), self._open(), self._read(), self._watch_zookeeper()
        self._tasks = [asyncio.create_task(work) for work in works]
        for task in self._tasks:
            task.add_done_callback(lambda _: self.ended.set())

    async def stop(self) -> None:
        """Close everything but the ZooKeeper session, which the caller ends."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.stop()
        self._logs.close()

    def _prepare(self, registry: ZooKeeperRegistry) -> None:
        changed = partial(call_in, self._loop, self._news.set)
        self._known = Topics(registry, partial(call_in, self._loop, self._unread.set))
        self._ids = BrokerIds(self._client, self._root, changed)
        self._electors = {
            number: ZooKeeperElector(
                self._client, f"{self._root}/coordinators/{number}", self._design.rank(number)
            )
            for number in range(self._design.elections)
        }
        for elector in self._electors.values():
            elector.watch(changed)

    async def _follow(self) -> None:
        """Notify the broker of changes, until it ends, without waiting: a former leader must know."""
        while True:
            await self._news.wait()
            self._news.clear()
            self._tell()

    async def _read(self) -> None:
        """Read the topics, and retry until ZooKeeper responds."""
        while True:
            await self._unread.wait()
            self._unread.clear()
            try:
                topics = await asyncio.to_thread(self._known.read)
            except Exception as problem:  # noqa: BLE001 - kazoo's, or of an entry that is none
                self._say(f"topics in ZooKeeper: {problem}")
                self._loop.call_later(AGAIN, self._unread.set)
                continue
            self._topics = {topic: len(names) for topic, names in topics.items()}
            self._news.set()

    async def _open(self) -> None:
        """Open the logs that the broker leads, and retry those that can't be opened."""
        while True:
            await self._unopened.wait()
            self._unopened.clear()
            if self._again is not None:
                self._again.cancel()  # else each change would cause another look, for ever
                self._again = None
            held = await asyncio.to_thread(self._logs.open)
            self._held = self._held + 1 if held else 0
            if self._held == PATIENCE:
                self._say(f"waits for {plural(held, 'log')} that another process has locked")
            if held or self._logs.failed:
                wait = HANDOVER if held else FAILED
                self._again = self._loop.call_later(wait, self._unopened.set)
            self._server.listener.do(self._front.answer_waiting(now_ms()))

    async def _watch_zookeeper(self) -> None:
        """End with ZooKeeper's data: in an empty one, terms and versions would begin again."""
        while True:
            await asyncio.sleep(AGAIN)
            if not self._client.connected and await asyncio.to_thread(forgotten, self._client):
                raise LostDataError

    def _tell(self) -> None:
        if self._ids.forgotten:
            raise LostDataError
        nodes = self._ids.live
        if nodes.get(self.node, self.address) != self.address:
            # it was taken for dead: with one id, both would take themselves for the leader
            raise TakenError(f"another broker {self.node} is in ZooKeeper by now")
        leaders = {number: elector.leader() for number, elector in self._electors.items()}
        self._server.set_cluster(nodes, leaders)
        self._front.cluster(nodes, self._topics)
        places = {
            (topic, number)
            for topic, count in self._topics.items()
            for number in range(count)
            if leader_of(number, nodes, self._brokers) == self.node
        }
        self._logs.keep(places)
        self._unopened.set()
        self._server.listener.do(self._front.answer_waiting(now_ms()))
        self._say_changes(tuple(sorted(nodes)), leaders)

    def _say_changes(self, live: tuple[int, ...], leaders: Leaders) -> None:
        connected = self._client.connected
        if connected != self._connected:
            self._connected = connected
            self._say(
                "has ZooKeeper again"
                if connected
                else "has lost ZooKeeper: coordinates nothing until it is back, and keeps its partitions"
            )
        for dead_node in set(self._live) - set(live):
            is_this_node = dead_node == self.node
            self._say(
                "its ZooKeeper session is over" if is_this_node else f"broker {dead_node} is gone"
            )
        leads = tuple(
            number for number, leader in leaders.items() if leader and leader.candidate == self.node
        )
        if leads != self._leads:
            slots = ", ".join(map(str, leads)) if self._design.elections > 1 else ""
            duties = f"{self._design.coordinates} {slots}".rstrip() if leads else "nothing"
            self._say(f"coordinates {duties}")
        self._live, self._leads = live, leads

    def _watch(self, _: int, action: Any) -> None:
        if isinstance(action, Close) and action.reason != GONE:
            self._say(f"closes a connection: {action.reason}")
        elif isinstance(action, Log):
            self._say(f"{action.level} {action.text}")

    def _say(self, line: str) -> None:
        """Report a repeated message once."""
        if line != self._said:
            self._said = line
            self._tell_person(line)
