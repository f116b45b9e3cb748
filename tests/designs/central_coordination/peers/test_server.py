"""What a broker makes of its registry: topics that change, entries nobody can read, no answer at all."""

from __future__ import annotations

import threading

from barnabas.designs.brokers.registry import Entry, MemoryElector, MemoryRegistry
from barnabas.designs.brokers.registry.interface import ABSENT
from barnabas.designs.brokers.registry.topics import Topics, path_of
from barnabas.designs.central_coordination.peers.actions import BrokerAction, ReadOffsets
from barnabas.designs.central_coordination.peers.client import Client
from barnabas.designs.central_coordination.peers.offsets import path_of as path_of_offsets
from barnabas.designs.central_coordination.peers.server import Cluster
from barnabas.designs.central_coordination.peers.settings import ConsumerSettings
from tests.waiting import SOON, eventually


def client(cluster: Cluster, group: str, topic_count: str) -> Client:
    settings = ConsumerSettings(group, "c", cluster.bootstrap, topic_count=topic_count)
    one = Client(settings)
    one.start()
    return one


def topics_of(one: Client) -> list[str]:
    return sorted(topic for topic, _ in one.partitions)


async def test_what_the_registry_has_starts_the_rebalances_that_it_concerns() -> None:
    registry = MemoryRegistry()
    async with Cluster(2, topics={"logs-a": ("0-0",)}, registry=registry) as cluster:
        wild = client(cluster, "wild", "*1*logs-.*")
        named = client(cluster, "named", '{"logs-a": 1}')
        early = client(cluster, "early", '{"logs-b": 1}')
        try:
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
        finally:
            for one in (wild, named, early):
                await one.stop()


async def test_topics_that_nobody_can_read_are_said_and_read_again() -> None:
    registry = MemoryRegistry()
    registry.write(path_of("t"), b"no partitions", ABSENT)
    async with Cluster(1, topics={}, registry=registry) as cluster:
        problem = "ERROR topics in the registry: no partitions"
        one = client(cluster, "g", '{"t": 1}')
        try:
            await eventually(
                lambda: any(line.startswith(problem) for line in cluster.servers[1].said)
            )
            assert cluster.coordinator is None
            registry.write(path_of("t"), b'["0-0"]', 0)
            await eventually(lambda: topics_of(one) == ["t"])
        finally:
            await one.stop()


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
        one = client(cluster, "g", '{"t": 1}')
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
            await one.stop()


async def test_a_registry_that_does_not_answer_for_one_group_holds_up_no_other() -> None:
    registry = Deaf(path_of_offsets("slow"))
    async with Cluster(1, topics={"t": ("0-0",)}, registry=registry) as cluster:
        slow = client(cluster, "slow", '{"t": 1}')
        other = None
        try:
            await eventually(registry.asked.is_set)
            other = client(cluster, "other", '{"t": 1}')
            await eventually(lambda: other is not None and topics_of(other) == ["t"])
            assert not registry.hears.is_set()
            assert not slow.starts
            registry.hears.set()
            await eventually(lambda: topics_of(slow) == ["t"])
            assert slow.core.losses == 0
        finally:
            registry.hears.set()
            for one in filter(None, (slow, other)):
                await one.stop()


async def test_a_fault_while_the_registry_is_asked_ends_the_broker() -> None:
    def watch(node: int, action: BrokerAction) -> None:
        if isinstance(action, ReadOffsets):
            raise RuntimeError("a fault")

    async with Cluster(1, topics={"t": ("0-0",)}, watch=watch) as cluster:
        one = client(cluster, "g", '{"t": 1}')
        try:
            await eventually(lambda: len(cluster.failures) == 1)
            assert not cluster.servers
        finally:
            await one.stop()
