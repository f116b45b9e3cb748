"""What a cluster does about a broker that has ended itself."""

from __future__ import annotations

import asyncio

from barnabas.designs.brokers.registry import MemoryElector
from barnabas.designs.consumer_rewrite.peers.actions import BrokerAction
from barnabas.designs.consumer_rewrite.peers.server import Cluster
from barnabas.designs.consumer_rewrite.peers.settings import BrokerSettings
from tests.waiting import SOON, eventually

FAILURE = OSError("its disk is full")


def fail(node: int, action: BrokerAction) -> None:
    """The first action of a broker, which reads the topics, ends it."""
    raise FAILURE


async def test_why_is_known_at_once_and_the_broker_leaves() -> None:
    elector = MemoryElector()
    settings, left = BrokerSettings(slots=1), asyncio.Event()
    loop = asyncio.get_running_loop()

    def changed() -> None:
        if elector.leader() is None:
            loop.call_soon_threadsafe(left.set)

    elector.watch(changed)
    async with Cluster(
        1, topics={}, settings=settings, electors={0: elector}, watch=fail
    ) as cluster:
        await eventually(lambda: bool(cluster.failures))
        assert cluster.failures == {1: FAILURE}
        assert not cluster.servers
        async with asyncio.timeout(SOON):
            await left.wait()
