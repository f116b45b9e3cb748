"""Consumers of central coordination, and the records that they read."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator
from typing import Final

from barnabas.designs.brokers.listener import Address
from barnabas.designs.central_coordination.peers.actions import ConsumerAction, StartFetchers
from barnabas.designs.central_coordination.peers.client import Client
from barnabas.designs.central_coordination.peers.interest import Partition
from barnabas.designs.central_coordination.peers.settings import ConsumerSettings

EVERY_MS: Final = 5
"""A record of each partition is read so often."""


def registering(
    address: Address, group: str, name: str, topic: str, session_ms: int
) -> ConsumerSettings:
    """Return the settings of a consumer of a topic; its id is GROUP-NAME."""
    name, count = f"{group}-{name}", f'{{"{topic}": 1}}'
    return ConsumerSettings(
        group, name, (address,), count, session_timeout_ms=session_ms, backoff_ms=20
    )


@contextlib.asynccontextmanager
async def running(clients: list[Client]) -> AsyncIterator[None]:
    """Start consumers, and stop them at the end."""
    try:
        for client in clients:
            client.start()
        yield
    finally:
        for client in clients:
            await client.stop()


def shared(clients: list[Client], count: int) -> bool:
    """Check that the consumers own `count` partitions, each once, and that each consumer has one."""
    owned = [at for client in clients for at in client.partitions]
    return len(owned) == len(set(owned)) == count and all(client.partitions for client in clients)


class Reading:
    """The records that a group has read."""

    def __init__(self) -> None:
        self.behind: set[Partition] = set()
        """Partitions that were begun before the first unread record."""
        self.ahead: set[Partition] = set()
        """Partitions that were begun after the first unread record."""
        self.paused: Client | None = None
        """The paused consumer."""
        self._read: dict[Partition, Counter[int]] = {}

    def begin(self, at: Partition, offset: int) -> None:
        """Note the offset at which a consumer is started."""
        following = max(self._read.get(at, ()), default=-1) + 1
        if offset < following:
            self.behind.add(at)
        elif offset > following:
            self.ahead.add(at)

    def read(self, at: Partition, offset: int) -> None:
        """Note that a consumer has read a record."""
        self._read.setdefault(at, Counter())[offset] += 1

    @property
    def least(self) -> int:
        """Return the number of records read of the partition with the fewest."""
        return min((len(counts) for counts in self._read.values()), default=0)

    @property
    def twice(self) -> int:
        """Return the number of reads of records that had been read before."""
        return sum(counts.total() - len(counts) for counts in self._read.values())

    @property
    def missed(self) -> int:
        """Return the number of unread records before a read one."""
        return sum(max(counts) + 1 - len(counts) for counts in self._read.values())


@contextlib.asynccontextmanager
async def reading(records: Reading, *settings: ConsumerSettings) -> AsyncIterator[list[Client]]:
    """Run consumers that read while they fetch."""

    def watch(action: ConsumerAction) -> None:
        if isinstance(action, StartFetchers):
            for at, offset in action.start.items():
                records.begin(at, max(offset, 0))  # no offset: from the beginning

    clients = [Client(client_settings, watch) for client_settings in settings]

    async def read() -> None:
        while True:
            for client_settings in clients:
                for at, offset in (
                    ()
                    if client_settings is records.paused
                    else tuple(client_settings.partitions.items())
                ):
                    records.read(at, offset)
                    client_settings.consumed(at, offset + 1)
            await asyncio.sleep(EVERY_MS / 1e3)

    async with running(clients):
        task = asyncio.create_task(read())
        try:
            yield clients
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
