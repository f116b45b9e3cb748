"""Wait for what another thread or process is to do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")

SOON: Final = 60.0
"""Seconds after which a test gives up: many more than even a busy machine needs."""


def until(condition: Callable[[], T], what: str = "", seconds: float = SOON) -> T:
    """Return the value of a condition as soon as it is true. Raises TimeoutError, which says `what`."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what or 'the condition'}: not in {seconds:g} s")
        time.sleep(0.02)
    return value


async def eventually(
    condition: Callable[[], object], holds: Callable[[], object] = lambda: None
) -> None:
    """Wait in an event loop until a condition is true; call as often what has to hold at any time."""
    async with asyncio.timeout(SOON):
        while not condition():
            holds()
            await asyncio.sleep(0.005)
    holds()
