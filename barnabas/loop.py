"""The event loop: uvloop if it is installed, else asyncio's own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return a function that makes the loop; None: asyncio's default."""
    try:
        import uvloop
    except ImportError:
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine until it returns."""
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        return runner.run(main)
