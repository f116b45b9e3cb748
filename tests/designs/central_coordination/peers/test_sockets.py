"""Coordinators and consumers of document 001 over real sockets, and through the proxy."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from barnabas.designs.brokers.listener import Address
from barnabas.designs.brokers.registry import MemoryRegistry
from barnabas.designs.brokers.registry.interface import ABSENT
from barnabas.designs.central_coordination.peers.client import Client
from barnabas.designs.central_coordination.peers.offsets import path_of, store
from barnabas.designs.central_coordination.peers.server import Cluster
from barnabas.designs.central_coordination.peers.settings import ConsumerSettings
from tests.waiting import eventually

TOPICS = {"t": ("0-0", "0-1", "0-2", "0-3")}


@contextlib.asynccontextmanager
async def consumers(
    bootstrap: tuple[Address, ...], *names: str, session_timeout_ms: int = 60_000
) -> AsyncIterator[list[Client]]:
    """Nobody is lost on a busy machine."""
    common = ConsumerSettings(
        "g", "", bootstrap, session_timeout_ms=session_timeout_ms, request_timeout_ms=60_000
    )
    clients = [Client(replace(common, consumer_id=name, backoff_ms=20)) for name in names]
    try:
        for client in clients:
            client.start()
        yield clients
    finally:
        for client in clients:
            await client.stop()


def shared(clients: list[Client], count: int = 4) -> bool:
    """Whether these fetch from so many partitions, each from one."""
    owned = [at for one in clients for at in one.partitions]
    return len(owned) == len(set(owned)) == count and all(one.partitions for one in clients)


async def test_a_group_over_sockets_survives_its_coordinator() -> None:
    async with (
        Cluster(2, topics=TOPICS) as cluster,
        consumers(cluster.bootstrap, "a", "b") as clients,
    ):
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


async def test_offsets_that_can_not_be_read_hold_up_their_group_and_no_other() -> None:
    registry = MemoryRegistry()
    registry.write(path_of("g"), b"no offsets", ABSENT)
    async with (
        Cluster(1, topics=TOPICS, registry=registry) as cluster,
        consumers(cluster.bootstrap, "a") as clients,
    ):
        await eventually(lambda: clients[0].core.losses > 0)
        other = Client(ConsumerSettings("h", "b", cluster.bootstrap))
        other.start()
        try:
            await eventually(lambda: shared([other]))
        finally:
            await other.stop()
        assert not clients[0].partitions
        assert any("offsets of g in the registry" in one for one in cluster.servers[1].said)
        registry.write(path_of("g"), b"[]", 0)
        await eventually(lambda: shared(clients))


@pytest.mark.parametrize(
    ("reset", "begun"), [("smallest", [5, 5, 5, 7]), ("largest", [7, 9, 9, 9])]
)
async def test_an_offset_that_is_out_of_range_is_reset(reset: str, begun: list[int]) -> None:
    registry = MemoryRegistry()
    known = {("t", "0-0"): 4, ("t", "0-1"): 7, ("t", "0-2"): 10}  # of 0-3 none is known
    store(registry, "g", known)
    async with Cluster(1, topics=TOPICS, registry=registry) as cluster:
        settings = ConsumerSettings("g", "a", cluster.bootstrap, auto_offset_reset=reset)
        one = Client(settings, ends=lambda at: (5, 9))
        one.start()
        try:
            await eventually(lambda: shared([one]))
            assert sorted(one.partitions.values()) == begun
        finally:
            await one.stop()
