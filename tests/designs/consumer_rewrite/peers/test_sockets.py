"""Coordinators and consumers over real sockets, and through the proxy."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from barnabas.captures.checks.running import run as run_checks
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.reader import CaptureReader
from barnabas.designs.brokers.listener import Address
from barnabas.designs.consumer_rewrite.captured_steps import step
from barnabas.designs.consumer_rewrite.checks import CHECKS
from barnabas.designs.consumer_rewrite.peers.client import Client
from barnabas.designs.consumer_rewrite.peers.group_entry import decode, path_of
from barnabas.designs.consumer_rewrite.peers.server import Cluster
from barnabas.designs.consumer_rewrite.peers.settings import ConsumerSettings
from barnabas.harness import Harness
from barnabas.proxy.scenario.file import loads
from tests.waiting import eventually


@contextlib.asynccontextmanager
async def polling(clients: list[Client]) -> AsyncIterator[None]:
    """All clients poll meanwhile."""

    async def work(client: Client) -> None:
        while True:
            await client.poll(0.05)

    tasks = [asyncio.create_task(work(client)) for client in clients]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for client in clients:
            await client.kill()


def client(bootstrap: tuple[Address, ...], **options: object) -> Client:
    settings: dict[str, object] = {
        "group_id": "g",
        "topics": ("t",),
        "session_timeout_ms": 30_000,  # nobody is to be lost on a busy machine
        "heartbeat_frequency": 300,
        "request_timeout_ms": 60_000,
        "backoff_ms": 20,
    }
    made = ConsumerSettings(bootstrap=bootstrap, **(settings | options))  # type: ignore[arg-type]
    one = Client(made)
    one.start()
    return one


def shared(clients: list[Client], count: int) -> bool:
    """Whether these own so many partitions of t, each once, in one generation."""
    owned = [at for one in clients for at in one.partitions]
    generations = {one.generation for one in clients}
    return len(generations) == 1 and sorted(owned) == [("t", number) for number in range(count)]


def committed(cluster: Cluster) -> list[int]:
    entry = cluster.registry.read(path_of("g"))
    return [] if entry is None else [one.offset for one in decode(entry.data).offsets.values()]


def hosts(cluster: Cluster) -> list[str]:
    entry = cluster.registry.read(path_of("g"))
    return [] if entry is None else [one.host for one in decode(entry.data).consumers]


async def test_a_group_over_sockets_survives_its_coordinator() -> None:
    async with Cluster(2, topics={"t": 4}) as cluster:
        clients = [client(cluster.bootstrap) for _ in range(2)]
        async with polling(clients):
            await eventually(lambda: shared(clients, 4))
            generation = clients[0].generation
            clients[0].consumed(next(iter(clients[0].partitions)), 42)
            clients[0].commit()
            await eventually(lambda: 42 in committed(cluster))
            assert hosts(cluster) == ["127.0.0.1", "127.0.0.1"]
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

    async def run(proxy: Harness) -> None:
        host, _, port = proxy.bootstrap.rpartition(":")
        address = ((host, int(port)),)
        # its session is over when the lost heartbeat is
        slow = client(address, client_id="slow", session_timeout_ms=1_500, heartbeat_frequency=5)
        clients = [slow, client(address, client_id="quick")]
        async with polling(clients):
            await eventually(lambda: shared(clients, 4))
            before = clients[0].core.losses
            await eventually(lambda: clients[0].core.losses > before)
            await eventually(lambda: shared(clients, 4))

    async with Cluster(1, topics={"t": 4}) as cluster:
        host, port = cluster.bootstrap[0]
        proxy = Harness(f"{host}:{port}", scenario=loads(SLOW), capture=capture)
        await asyncio.to_thread(proxy.__enter__)
        try:
            await run(proxy)
        finally:
            await asyncio.to_thread(proxy.__exit__, None, None, None)
        asked = {one.api for one in proxy.exchanges}
        assert {"FindCoordinator", "JoinGroup", "Heartbeat", "OffsetFetch"} <= asked
    exchanges = list(Conversations(strays=True).exchanges(CaptureReader(capture)))
    assert [finding for _, finding in run_checks(exchanges, CHECKS)] == []
    joins = [seen for one in exchanges if (seen := step(one)) and seen.api == "JoinGroup"]
    assert {seen.response["group_generation_id"] for seen in joins} >= {1, 2}
