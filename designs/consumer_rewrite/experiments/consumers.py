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
"""Seconds that a poll takes at most."""


@contextlib.asynccontextmanager
async def polling(clients: Iterable[Client]) -> AsyncIterator[dict[str, asyncio.Event]]:
    """Let consumers poll, except those with a cleared event; the events are by client id."""
    awake = {one.core.settings.client_id: asyncio.Event() for one in clients}

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
    found = []
    for name in names:
        about = {"topics": ("t",), "client_id": f"{group}-{name}", "backoff_ms": 20, **settings}
        found.append(Client(ConsumerSettings(group, (address,), **about)))
        found[-1].start()
    return found


def generation(join: DialectExchange) -> int:
    """Return the generation in the answer to a JoinGroup; -1: no answer."""
    return -1 if join.response is None else int(join.response["group_generation_id"])


def shared(clients: Iterable[Client], partitions: int) -> bool:
    """Check that consumers own so many partitions, each once, in one generation."""
    owned = [at for one in clients for at in one.partitions]
    generations = {one.generation for one in clients}
    return len(generations) == 1 and len(owned) == len(set(owned)) == partitions
