"""Coordinators and consumers over sockets: one that dies, and what brokers make of their registry."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from barnabas.designs.brokers.registry import Entry, MemoryElector, MemoryRegistry
from barnabas.designs.brokers.registry.interface import ABSENT
from barnabas.designs.brokers.registry.topics import Topics, path_of
from barnabas.designs.central_coordination.peers.actions import BrokerAction, ReadOffsets
from barnabas.designs.central_coordination.peers.client import Client
from barnabas.designs.central_coordination.peers.offsets import path_of as path_of_offsets
from barnabas.designs.central_coordination.peers.offsets import store
from barnabas.designs.central_coordination.peers.server import Cluster
from barnabas.designs.central_coordination.peers.settings import ConsumerSettings
from tests.waiting import SOON, eventually

TOPICS = {"t": ("0-0", "0-1", "0-2", "0-3")}


def start(
    cluster: Cluster, group: str, topic_count: str = '{"t": 1}', ends: Any = None, **other: str
) -> Client:
    """Start a consumer, which ends with the event loop. Nobody is lost on a busy machine."""
    settings = ConsumerSettings(
        *(group, other.pop("name", "c"), cluster.bootstrap, topic_count),
        session_timeout_ms=60_000,
        request_timeout_ms=60_000,
        backoff_ms=20,
        **other,  # type: ignore[arg-type]
    )
    client = Client(settings, ends=ends)
    client.start()
    return client


def topics_of(one: Client) -> list[str]:
    return sorted(topic for topic, _ in one.partitions)


def shared(clients: list[Client], count: int = 4) -> bool:
    """Whether these fetch from so many partitions, each from one."""
    owned = [at for one in clients for at in one.partitions]
    return len(owned) == len(set(owned)) == count and all(one.partitions for one in clients)


async def test_a_group_over_sockets_survives_its_coordinator() -> None:
    async with Cluster(2, topics=TOPICS) as cluster:
        clients = [start(cluster, "g", name=name) for name in "ab"]
        await eventually(lambda: shared(clients))
        for one in clients:
            for at in one.partitions:
                one.consumed(at, 42)
        await cluster.grow("t", "0-4")
        await eventually(lambda: shared(clients, 5))
        assert sorted(o for one in clients for o in one.partitions.values()) == [0] + [42] * 4
        for one in clients:
            for at in one.partitions:
                one.consumed(at, 57)  # nobody was asked since
        first = cluster.coordinator
        assert first is not None
        await cluster.stop(first.node)
        await eventually(lambda: not any(one.fetching for one in clients))
        await eventually(lambda: shared(clients, 5))
        assert [o for one in clients for o in one.partitions.values()] == [57] * 5


@pytest.mark.parametrize(
    ("reset", "begun"), [("smallest", [5, 5, 5, 7]), ("largest", [7, 9, 9, 9])]
)
async def test_an_offset_that_is_out_of_range_is_reset(reset: str, begun: list[int]) -> None:
    registry = MemoryRegistry()
    known = {("t", "0-0"): 4, ("t", "0-1"): 7, ("t", "0-2"): 10}  # of 0-3 none is known
    store(registry, "g", known)
    async with Cluster(1, topics=TOPICS, registry=registry) as cluster:
        one = start(cluster, "g", ends=lambda at: (5, 9), auto_offset_reset=reset)
        await eventually(lambda: shared([one]))
        assert sorted(one.partitions.values()) == begun


async def test_offsets_that_can_not_be_read_hold_up_their_group_and_no_other() -> None:
    registry = MemoryRegistry()
    registry.write(path_of_offsets("g"), b"no offsets", ABSENT)
    async with Cluster(1, topics=TOPICS, registry=registry) as cluster:
        one = start(cluster, "g")
        await eventually(lambda: one.core.losses > 0)
        other = start(cluster, "h")
        await eventually(lambda: shared([other]))
        assert not one.partitions
        assert any("offsets of g in the registry" in line for line in cluster.servers[1].said)
        registry.write(path_of_offsets("g"), b"[]", 0)
        await eventually(lambda: shared([one]))


async def test_what_the_registry_has_starts_the_rebalances_that_it_concerns() -> None:
    registry = MemoryRegistry()
    async with Cluster(2, topics={"logs-a": ("0-0",)}, registry=registry) as cluster:
        wild = start(cluster, "wild", "*1*logs-.*")
        named = start(cluster, "named", '{"logs-a": 1}')
        early = start(cluster, "early", '{"logs-b": 1}')
        await eventually(lambda: topics_of(wild) == topics_of(named) == ["logs-a"])
        assert not early.starts
        brokers = Topics(registry)  # not through the cluster: who coordinates must hear of it
        brokers.grow("logs-b", "0-0")
        await eventually(lambda: topics_of(wild) == ["logs-a", "logs-b"])
        await eventually(lambda: topics_of(early) == ["logs-b"])
        assert named.starts == 1
        brokers.grow("logs-b", "0-1")
        await eventually(lambda: topics_of(wild) == ["logs-a", "logs-b", "logs-b"])
        await eventually(lambda: topics_of(early) == ["logs-b", "logs-b"])
        assert named.starts == 1


async def test_topics_that_nobody_can_read_are_said_and_read_again() -> None:
    registry = MemoryRegistry()
    registry.write(path_of("t"), b"no partitions", ABSENT)
    async with Cluster(1, topics={}, registry=registry) as cluster:
        problem = "ERROR topics in the registry: no partitions"
        one = start(cluster, "g")
        await eventually(lambda: any(line.startswith(problem) for line in cluster.servers[1].said))
        assert cluster.coordinator is None
        registry.write(path_of("t"), b'["0-0"]', 0)
        await eventually(lambda: topics_of(one) == ["t"])


class Deaf(MemoryRegistry):
    """Does not answer questions about offsets, of all groups or of one, until it hears again."""

    def __init__(self, about: str = "/consumers") -> None:
        super().__init__()
        self._about = about
        self.hears = threading.Event()
        self.asked = threading.Event()

    def read(self, path: str) -> Entry | None:
        if path.startswith(self._about):
            self.asked.set()
            self.hears.wait(SOON)
        return super().read(path)


async def test_who_resigns_closes_its_connections_though_the_registry_does_not_answer() -> None:
    registry, elector = Deaf(), MemoryElector()
    async with Cluster(1, topics={"t": ("0-0",)}, registry=registry, elector=elector) as cluster:
        one = start(cluster, "g")
        try:
            await eventually(registry.asked.is_set)
            elector.leave(1)
            await eventually(lambda: one.core.losses > 0)
            assert "the connection is closed" in one.said[-1]  # it did not wait for pings
            assert not registry.hears.is_set()
            assert not cluster.servers[1].core.coordinates
            registry.hears.set()
            elector.enter(1)
            await eventually(lambda: topics_of(one) == ["t"])
        finally:
            registry.hears.set()


async def test_a_registry_that_does_not_answer_for_one_group_holds_up_no_other() -> None:
    registry = Deaf(path_of_offsets("slow"))
    async with Cluster(1, topics={"t": ("0-0",)}, registry=registry) as cluster:
        slow = start(cluster, "slow")
        try:
            await eventually(registry.asked.is_set)
            other = start(cluster, "other")
            await eventually(lambda: topics_of(other) == ["t"])
            assert not registry.hears.is_set()
            assert not slow.starts
            registry.hears.set()
            await eventually(lambda: topics_of(slow) == ["t"])
            assert slow.core.losses == 0
        finally:
            registry.hears.set()


async def test_a_fault_while_the_registry_is_asked_ends_the_broker() -> None:
    def watch(node: int, action: BrokerAction) -> None:
        if isinstance(action, ReadOffsets):
            raise RuntimeError("a fault")

    async with Cluster(1, topics={"t": ("0-0",)}, watch=watch) as cluster:
        start(cluster, "g")
        await eventually(lambda: len(cluster.failures) == 1)
        assert not cluster.servers
