"""What experiments with peers of the designs share: a proxy next to an event loop, and its capture."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from barnabas.captures.kafka.dialect_conversations import DialectConversations
from barnabas.captures.reader import CaptureReader
from barnabas.designs.brokers.listener import Address
from barnabas.designs.exchange import DialectExchange
from barnabas.experiments.experiment import Bench, Between, address_of
from barnabas.specs.dialects import dialect

QUIET: Final = "version: 1\ndialect: {dialect}\nrules: []\n"
PATIENCE: Final = 60.0
"""Seconds after which something is given up."""


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


def seen(proxy: Between, name: str) -> list[DialectExchange]:
    """Return the exchanges of its capture, read as of a dialect, in the order of their requests."""
    found = DialectConversations(dialect(name)).exchanges(CaptureReader(proxy.capture))
    return sorted(map(DialectExchange.of, found), key=lambda one: one.ts)
