"""Consumers of the rewrite for experiments: they join, poll, and share the partitions."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable
from typing import Any, Final

from barnabas.designs.brokers.listener import Address
from barnabas.designs.consumer_rewrite.peers.client import Client
from barnabas.designs.consumer_rewrite.peers.settings import ConsumerSettings
from barnabas.designs.exchange import DialectExchange

POLL: Final = 0.05
"""The longest poll in seconds."""


@contextlib.asynccontextmanager
async def polling(clients: Iterable[Client]) -> AsyncIterator[dict[str, asyncio.Event]]:
    """Let consumers poll, except those with a cleared event; the events are by client id."""
    awake = {polled_client.core.settings.client_id: asyncio.Event() for polled_client in clients}

    async def work(client: Client) -> None:
        while True:
            await awake[client.core.settings.client_id].wait()
            await client.poll(POLL)

    for event in awake.values():
        event.set()
    tasks = [asyncio.create_task(work(client)) for client in clients]
    try:
        yield awake
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for client in clients:
            await client.kill()


def consumers(address: Address, group: str, names: Iterable[str], **settings: Any) -> list[Client]:
    """Start consumers of a group; their client ids are GROUP-NAME."""
    clients = []
    for name in names:
        client_settings = {
            "topics": ("t",),
            "client_id": f"{group}-{name}",
            "backoff_ms": 20,
            **settings,
        }
        clients.append(Client(ConsumerSettings(group, (address,), **client_settings)))
        clients[-1].start()
    return clients


def generation(join: DialectExchange) -> int:
    """Return the generation in the answer to a JoinGroup; -1: no answer."""
    return -1 if join.response is None else int(join.response["group_generation_id"])


def shared(clients: Iterable[Client], partitions: int) -> bool:
    """Check that consumers own `partitions` partitions, each once, in one generation."""
    owned = [at for client in clients for at in client.partitions]
    generations = {client.generation for client in clients}
    return len(generations) == 1 and len(owned) == len(set(owned)) == partitions
