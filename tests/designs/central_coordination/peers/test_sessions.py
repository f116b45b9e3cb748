"""Coordinators that lose ZooKeeper: each broker has a session of its own, in a real one."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence

import pytest

from barnabas.designs.brokers.cluster import Session
from barnabas.designs.brokers.registry.zookeeper import ZooKeeperElector, ZooKeeperRegistry
from barnabas.designs.central_coordination.peers.actions import BrokerAction
from barnabas.designs.central_coordination.peers.client import Client
from barnabas.designs.central_coordination.peers.coordinator import Broker
from barnabas.designs.central_coordination.peers.server import Cluster
from barnabas.designs.central_coordination.peers.settings import ConsumerSettings
from barnabas.peers.apache.keeper import ZooKeeper
from tests.waiting import SOON, eventually

kazoo_client = pytest.importorskip(
    "kazoo.client", reason="needs kazoo (install barnabas with the extra 'zookeeper')"
)

pytestmark = [pytest.mark.needs_apache("3.9.1"), pytest.mark.timeout(180)]

TOPICS = {"t": ("0-0", "0-1")}


@pytest.fixture(scope="module")
def keeper() -> Iterator[ZooKeeper]:
    with ZooKeeper("3.9.1") as running:
        yield running


class Road:
    """Leads to ZooKeeper. Once it is blocked nothing passes, and no connection ends, until it is open."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._to = (host, int(port))
        self._open = asyncio.Event()
        self._open.set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> str:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()[:2]
        return f"{host}:{port}"

    async def __aexit__(self, *problem: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def block(self) -> None:
        self._open.clear()

    def open(self) -> None:
        self._open.set()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        with contextlib.suppress(OSError, asyncio.CancelledError):
            there, back = await asyncio.open_connection(*self._to)
            await asyncio.gather(self._pass(reader, back), self._pass(there, writer))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(1 << 16):
                await self._open.wait()
                writer.write(data)
        finally:
            writer.close()


@contextlib.asynccontextmanager
async def session(address: str, path: str) -> AsyncIterator[Session]:
    client = kazoo_client.KazooClient(address, timeout=4.0)  # ZooKeeper may say more
    await asyncio.to_thread(client.start, SOON)
    try:
        elector = await asyncio.to_thread(ZooKeeperElector, client, f"{path}/coordinator")
        yield Session(ZooKeeperRegistry(client, path), {0: elector})
    finally:
        await asyncio.to_thread(client.stop)
        await asyncio.to_thread(client.close)


@contextlib.asynccontextmanager
async def consumer(cluster: Cluster) -> AsyncIterator[Client]:
    one = Client(ConsumerSettings("g", "c", cluster.bootstrap, session_timeout_ms=1_500))
    one.start()
    try:
        yield one
    finally:
        await one.stop()


@pytest.fixture
def beside(monkeypatch: pytest.MonkeyPatch) -> list[set[int]]:
    """Who else coordinated, each time that somebody began to."""
    begun: list[set[int]] = []
    acting: dict[int, Broker] = {}
    original = Broker.elected

    def elected(self: Broker, topics: Mapping[str, Sequence[str]], now: int) -> list[BrokerAction]:
        acting[self.node] = self
        begun.append({n for n, one in acting.items() if one.coordinates})
        return original(self, topics, now)

    monkeypatch.setattr(Broker, "elected", elected)
    return begun


async def test_who_is_cut_off_from_zookeeper_resigns_before_the_next_one_begins(
    keeper: ZooKeeper, beside: list[set[int]]
) -> None:
    road = Road(keeper.address)
    async with (
        road as address,
        session(address, "/cut") as first,
        session(keeper.address, "/cut") as second,
        Cluster(
            2, topics=TOPICS, registry=second.registry, sessions={1: first, 2: second}
        ) as cluster,
        consumer(cluster) as one,
    ):
        cut, other = cluster.servers[1].core, cluster.servers[2].core
        await eventually(lambda: len(one.partitions) == 2)
        assert cut.coordinates
        road.block()
        await eventually(lambda: not cut.coordinates)
        assert not other.coordinates
        await eventually(lambda: one.core.coordinator_id == 2 and len(one.partitions) == 2)
        await cluster.grow("t", "1-0")
        await eventually(lambda: len(one.partitions) == 3)
        road.open()  # its session is over: it is told so, and stands again, behind the other
        await cluster.stop(2)
        await eventually(lambda: one.core.coordinator_id == 1 and len(one.partitions) == 3)
        await cluster.grow("t", "1-1")
        await eventually(lambda: len(one.partitions) == 4)
    assert beside == [set(), set(), {2}]  # the last time it was dead
