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
        for one in clients:
            one.start()
        yield
    finally:
        for one in clients:
            await one.stop()


def shared(clients: list[Client], count: int) -> bool:
    """Check that the consumers own so many partitions, each once, and that each consumer has one."""
    owned = [at for one in clients for at in one.partitions]
    return len(owned) == len(set(owned)) == count and all(one.partitions for one in clients)


class Reading:
    """The records that a group has read."""

    def __init__(self) -> None:
        self.behind: set[Partition] = set()
        """Partitions that somebody began before the first record that nobody had read."""
        self.ahead: set[Partition] = set()
        """Those that somebody began behind it."""
        self.paused: Client | None = None
        """Who reads nothing."""
        self._read: dict[Partition, Counter[int]] = {}

    def begin(self, at: Partition, offset: int) -> None:
        """Note where a consumer is told to start."""
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
        """The number of records read of the partition with the fewest."""
        return min((len(one) for one in self._read.values()), default=0)

    @property
    def twice(self) -> int:
        """The number of reads of a record that had been read before."""
        return sum(one.total() - len(one) for one in self._read.values())

    @property
    def missed(self) -> int:
        """The number of records that were not read, in front of one that was."""
        return sum(max(one) + 1 - len(one) for one in self._read.values())


@contextlib.asynccontextmanager
async def reading(found: Reading, *settings: ConsumerSettings) -> AsyncIterator[list[Client]]:
    """Run consumers that read while they fetch."""

    def watch(action: ConsumerAction) -> None:
        if isinstance(action, StartFetchers):
            for at, offset in action.start.items():
                found.begin(at, max(offset, 0))  # none is known: from the beginning

    clients = [Client(one, watch) for one in settings]

    async def read() -> None:
        while True:
            for one in clients:
                for at, offset in () if one is found.paused else tuple(one.partitions.items()):
                    found.read(at, offset)
                    one.consumed(at, offset + 1)
            await asyncio.sleep(EVERY_MS / 1e3)

    async with running(clients):
        task = asyncio.create_task(read())
        try:
            yield clients
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
