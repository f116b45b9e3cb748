"""Waits for what happens on sockets and in processes, with a limit that no busy machine reaches."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable, Coroutine
from typing import Final, ParamSpec

P = ParamSpec("P")

LIMIT: Final = 60.0
"""Seconds for anything that is waited for."""


def in_loop(test: Callable[P, Coroutine[None, None, None]]) -> Callable[P, None]:
    """Run a test that is a coroutine in an event loop of its own."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        asyncio.run(test(*args, **kwargs))

    return run


async def until(condition: Callable[[], bool], holds: Callable[[], None] = lambda: None) -> None:
    """Wait until a condition is met; check as often what has to hold at any time."""
    async with asyncio.timeout(LIMIT):
        while not condition():
            holds()
            await asyncio.sleep(0.005)
    holds()


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait in a thread until a condition is met."""
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)
