"""What the experiments with peers of the drafts share: a proxy beside an event loop, and its capture."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from barnabas.captures.kafka.draft_conversations import DraftConversations, DraftExchange
from barnabas.captures.reader import CaptureReader
from barnabas.experiments.experiment import Bench, Between, address_of
from barnabas.peers.consumer_rewrite.client import Client
from barnabas.peers.consumer_rewrite.settings import ConsumerSettings
from barnabas.peers.listener import Address
from barnabas.specs.drafts import draft

REWRITE: Final = "rewrite-0.8.2"
CENTRAL: Final = "central-coordination"
QUIET: Final = "version: 1\ndialect: {dialect}\nrules: []\n"
PATIENCE: Final = 60.0
"""Seconds after which something is given up."""
POLL: Final = 0.05
"""Seconds that a poll of the rewrite's consumer takes at most."""


@contextlib.asynccontextmanager
async def passing(
    bench: Bench, brokers: Iterable[Address], folder: Path, dialect: str
) -> AsyncIterator[Between]:
    """A proxy in front of brokers that run in this event loop, which goes on meanwhile.

    folder: an empty one.
    """
    servers = ",".join(f"{host}:{port}" for host, port in brokers)
    manager = bench.proxy(servers, QUIET.format(dialect=dialect), folder)
    proxy = await asyncio.to_thread(manager.__enter__)
    try:
        yield proxy
    finally:
        await asyncio.to_thread(manager.__exit__, None, None, None)


async def rounds(
    bench: Bench,
    brokers: Iterable[Address],
    dialect: str,
    count: int,
    arms: Sequence[tuple[Any, ...]],
    each: Callable[..., Awaitable[dict[str, Any]]],
) -> tuple[list[dict[str, Any]], Between]:
    """So many rounds of all arms, one run behind the other; what came of each, and the proxy between.

    arms: the first word of one is its name. each: called with the proxy's address, the round's number and
    the arm's words.
    """
    runs: list[dict[str, Any]] = []
    async with passing(bench, brokers, bench.folder, dialect) as proxy:
        for number, arm in itertools.product(range(count), arms):
            bench.step(len(runs), len(arms) * count, arm[0])
            runs.append(await each(address_of(proxy), number, *arm))
    return runs, proxy


async def until(condition: Callable[[], bool], what: str) -> None:
    """Wait until something holds. Raises TimeoutError, which says what did not."""
    try:
        async with asyncio.timeout(PATIENCE):
            while not condition():  # noqa: ASYNC110 - of many things, which have no event
                await asyncio.sleep(0.002)
    except TimeoutError:
        raise TimeoutError(f"{what} does not come about") from None


@contextlib.asynccontextmanager
async def polling(clients: Iterable[Client]) -> AsyncIterator[dict[str, asyncio.Event]]:
    """All these consumers of the rewrite poll, unless the event of their client id is cleared."""
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
    """Consumers of the rewrite that have begun to join a group, with its name and their own as client id."""
    found = []
    for name in names:
        about = {"topics": ("t",), "client_id": f"{group}-{name}", "backoff_ms": 20, **settings}
        found.append(Client(ConsumerSettings(group, (address,), **about)))
        found[-1].start()
    return found


def generation(join: DraftExchange) -> int:
    """The one that a JoinGroup of the rewrite was answered with."""
    return -1 if join.response is None else int(join.response["group_generation_id"])


def shared(clients: Iterable[Client], partitions: int) -> bool:
    """Whether consumers of the rewrite own so many partitions, each once, in one generation."""
    owned = [at for one in clients for at in one.partitions]
    generations = {one.generation for one in clients}
    return len(generations) == 1 and len(owned) == len(set(owned)) == partitions


def seen(proxy: Between, dialect: str) -> list[DraftExchange]:
    """All exchanges of its capture, read as of a draft, in the order in which they began."""
    found = DraftConversations(draft(dialect)).exchanges(CaptureReader(proxy.capture))
    return sorted(map(DraftExchange.of, found), key=lambda one: one.ts)
