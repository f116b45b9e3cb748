"""Consumers of central coordination: whether they share all, and what they read, record by record."""

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
    """A consumer of a topic, with its group's name and its own as id."""
    return ConsumerSettings(
        group,
        f"{group}-{name}",
        (address,),
        topic_count=f'{{"{topic}": 1}}',
        session_timeout_ms=session_ms,
        backoff_ms=20,
    )


def shared(clients: list[Client], count: int) -> bool:
    """Whether these fetch from so many partitions, each from one, and nobody from none."""
    owned = [at for one in clients for at in one.partitions]
    return len(owned) == len(set(owned)) == count and all(one.partitions for one in clients)


class Reading:
    """What a group has read, whoever it was."""

    def __init__(self) -> None:
        self.behind: set[Partition] = set()
        """Partitions that somebody began before the first record that nobody had read."""
        self.ahead: set[Partition] = set()
        """Those that somebody began behind it."""
        self.paused: Client | None = None
        """Who reads nothing."""
        self._read: dict[Partition, Counter[int]] = {}

    def begin(self, at: Partition, offset: int) -> None:
        """Somebody is told to start here."""
        following = max(self._read.get(at, ()), default=-1) + 1
        if offset < following:
            self.behind.add(at)
        elif offset > following:
            self.ahead.add(at)

    def read(self, at: Partition, offset: int) -> None:
        """Somebody has read a record."""
        self._read.setdefault(at, Counter())[offset] += 1

    @property
    def least(self) -> int:
        """How many records of each partition were read, of those of which any was."""
        return min((len(one) for one in self._read.values()), default=0)

    @property
    def twice(self) -> int:
        """How many reads were of a record that had been read before."""
        return sum(one.total() - len(one) for one in self._read.values())

    @property
    def missed(self) -> int:
        """How many records nobody read, though one behind them was."""
        return sum(max(one) + 1 - len(one) for one in self._read.values())


@contextlib.asynccontextmanager
async def reading(found: Reading, *settings: ConsumerSettings) -> AsyncIterator[list[Client]]:
    """Consumers that read as long as they fetch, from `async with` to its end."""

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

    for one in clients:
        one.start()
    task = asyncio.create_task(read())
    try:
        yield clients
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        for one in clients:
            await one.stop()
