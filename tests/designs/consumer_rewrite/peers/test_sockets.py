"""Coordinators and consumers over real sockets, and through the proxy."""

from __future__ import annotations

import asyncio
from pathlib import Path

from barnabas.captures.checks.runner import run as run_checks
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.reader import CaptureReader
from barnabas.designs.brokers.listener import Address
from barnabas.designs.consumer_rewrite.captured_steps import step
from barnabas.designs.consumer_rewrite.checks import CHECKS
from barnabas.designs.consumer_rewrite.peers.client import Client
from barnabas.designs.consumer_rewrite.peers.group_entry import GroupEntry, decode, path_of
from barnabas.designs.consumer_rewrite.peers.server import Cluster
from barnabas.designs.consumer_rewrite.peers.settings import ConsumerSettings
from tests.designs.faults import captured
from tests.waiting import eventually

POLLS = set[asyncio.Task[None]]()


def client(bootstrap: tuple[Address, ...], **options: object) -> Client:
    """A consumer that polls until the event loop ends."""
    settings: dict[str, object] = {
        "group_id": "g",
        "topics": ("t",),
        "session_timeout_ms": 30_000,  # nobody is to be lost on a busy machine
        "heartbeat_frequency": 300,
        "request_timeout_ms": 60_000,
        "backoff_ms": 20,
    }
    one = Client(ConsumerSettings(bootstrap=bootstrap, **(settings | options)))  # type: ignore[arg-type]

    async def work() -> None:
        while True:
            await one.poll(0.05)

    one.start()
    POLLS.add(asyncio.create_task(work()))
    return one


def shared(clients: list[Client], count: int) -> bool:
    """Whether these own so many partitions of t, each once, in one generation."""
    owned = [at for one in clients for at in one.partitions]
    generations = {one.generation for one in clients}
    return len(generations) == 1 and sorted(owned) == [("t", number) for number in range(count)]


def kept(cluster: Cluster) -> GroupEntry:
    """What the registry has of the group."""
    entry = cluster.registry.read(path_of("g"))
    return GroupEntry() if entry is None else decode(entry.data)


async def test_a_group_over_sockets_survives_its_coordinator() -> None:
    async with Cluster(2, topics={"t": 4}) as cluster:
        clients = [client(cluster.bootstrap) for _ in range(2)]
        await eventually(lambda: shared(clients, 4))
        generation = clients[0].generation
        clients[0].consumed(next(iter(clients[0].partitions)), 42)
        clients[0].commit()
        await eventually(lambda: 42 in [one.offset for one in kept(cluster).offsets.values()])
        assert [one.host for one in kept(cluster).consumers] == ["127.0.0.1", "127.0.0.1"]
        first = cluster.coordinator("g")
        assert first is not None
        await cluster.stop(first)
        await cluster.partitions("t", 5)
        await eventually(lambda: shared(clients, 5))
        assert clients[0].generation > generation
        positions = [offset for one in clients for offset in one.partitions.values()]
        assert sorted(positions) == [0, 0, 0, 0, 42]


SLOW = """
version: 1
rules:
  - name: a heartbeat is lost
    match: {api: Heartbeat, direction: request, client_id: slow}
    when: {skip: 2, times: 1, scope: rule}
    do: drop
"""


async def test_through_the_proxy_a_lost_heartbeat_makes_a_consumer_find_its_coordinator_again(
    tmp_path: Path,
) -> None:
    capture = tmp_path / "rewrite.pcapng"
    async with (
        Cluster(1, topics={"t": 4}) as cluster,
        captured(cluster.bootstrap, SLOW, capture) as proxy,
    ):
        address = (proxy.proxy.address,)
        # its session is over when the lost heartbeat is
        slow = client(address, client_id="slow", session_timeout_ms=1_500, heartbeat_frequency=5)
        clients = [slow, client(address, client_id="quick")]
        await eventually(lambda: shared(clients, 4))
        before = slow.core.losses
        await eventually(lambda: slow.core.losses > before)
        await eventually(lambda: shared(clients, 4))
    asked = {one.api for one in proxy.exchanges}
    assert {"FindCoordinator", "JoinGroup", "Heartbeat", "OffsetFetch"} <= asked
    exchanges = list(Conversations(strays=True).exchanges(CaptureReader(capture)))
    assert [finding for _, finding in run_checks(exchanges, CHECKS)] == []
    joins = [seen for one in exchanges if (seen := step(one)) and seen.api == "JoinGroup"]
    assert {seen.response["group_generation_id"] for seen in joins} >= {1, 2}
