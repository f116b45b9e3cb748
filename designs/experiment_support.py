"""Experiments with peers of the designs: a proxy next to an event loop, its capture, and a trap."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from typing import Any, Final

from barnabas.captures.kafka.dialect_conversations import DialectConversations
from barnabas.captures.reader import CaptureReader
from barnabas.designs.brokers.listener import Address
from barnabas.designs.exchange import DialectExchange
from barnabas.designs.results.runs import Run
from barnabas.experiments.experiment import Bench, Between, address_of
from barnabas.specs.dialects import dialect

SCENARIO: Final = "version: 1\ndialect: {dialect}\nrules: []\n"
PATIENCE: Final = 60.0
"""The longest wait for a condition in seconds."""


class Trap:
    """Stops a coordinator right before one of its actions."""

    def __init__(self) -> None:
        self.sprung = asyncio.Event()
        self.died_at = 0
        """The time at which the coordinator was stopped, in ns since the epoch."""
        self._node = self._left = 0
        self._matches: Callable[[Any], bool] = bool

    def arm(self, node: int, matches: Callable[[Any], bool], ordinal: int) -> None:
        """Wait for the action of this number among the matching actions of a broker."""
        self._node, self._matches, self._left = node, matches, ordinal
        self.sprung.clear()

    def watch(self, node: int, action: Any) -> None:
        """Inspect an action before its broker performs it. Raises CancelledError to stop the broker."""
        if self._left and node == self._node and self._matches(action):
            self._left -= 1
            if not self._left:
                self.died_at = time.time_ns()
                self.sprung.set()
                raise asyncio.CancelledError


@contextlib.asynccontextmanager
async def passing(
    bench: Bench, brokers: Iterable[Address], dialect: str, name: str = "proxy"
) -> AsyncIterator[Between]:
    """Run a proxy in front of brokers of this event loop. name: of a new folder."""
    servers = ",".join(f"{host}:{port}" for host, port in brokers)
    manager = bench.between(servers, SCENARIO.format(dialect=dialect), name)
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
    each: Callable[..., Awaitable[Run]],
    *,
    at_once: bool = False,
) -> tuple[list[Run], list[DialectExchange]]:
    """Run all arms in rounds through one proxy.

    Args:
        bench: Gives the proxy.
        brokers: The addresses behind the proxy.
        dialect: The name of the design's protocol.
        count: The number of rounds.
        arms: The arguments of `each`; the first one is the arm's name.
        each: Gets the proxy's address, the round's number and an arm, and returns the run.
        at_once: Whether arms run in parallel, each in rounds of its own.

    Returns:
        The runs, and the exchanges in the proxy's capture.
    """
    runs: list[Run] = []
    async with passing(bench, brokers, dialect) as proxy:

        async def work(turns: Iterable[tuple[int, tuple[Any, ...]]]) -> None:
            for number, arm in turns:
                bench.step(len(runs), len(arms) * count, str(arm[0]))
                runs.append(await each(address_of(proxy), number, *arm))

        if at_once:
            await asyncio.gather(*(work([(at, arm) for at in range(count)]) for arm in arms))
        else:
            await work(itertools.product(range(count), arms))
    return runs, captured_exchanges(proxy, dialect)


async def until(condition: Callable[[], bool], awaited: str) -> None:
    """Wait until a condition holds. Raises TimeoutError with `awaited`."""
    try:
        async with asyncio.timeout(PATIENCE):
            while not condition():  # noqa: ASYNC110 - of many things, which have no event
                await asyncio.sleep(0.002)
    except TimeoutError:
        raise TimeoutError(f"{awaited} does not come about") from None


def captured_exchanges(proxy: Between, name: str) -> list[DialectExchange]:
    """Return the exchanges in a proxy's capture, read with a dialect, in the order of their requests."""
    exchanges = DialectConversations(dialect(name)).exchanges(CaptureReader(proxy.capture))
    return sorted(map(DialectExchange.of, exchanges), key=lambda exchange: exchange.ts)


def of_group(
    exchanges: Iterable[DialectExchange], group: str, begin: int, end: int, apis: Sequence[str] = ()
) -> list[DialectExchange]:
    """Return the exchanges of a group's clients, GROUP-NAME, within a time (ns), of some APIs or all."""
    return [
        exchange
        for exchange in exchanges
        if exchange.client.startswith(f"{group}-")
        and begin <= exchange.ts <= end
        and (not apis or exchange.api in apis)
    ]
