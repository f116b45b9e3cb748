"""Brokers that failed, and how they leave the election."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any


class EndedBrokers:
    """Why brokers of a cluster failed; they leave the election in tasks of their own."""

    def __init__(self) -> None:
        self.failures: dict[int, Exception | None] = {}
        """Why, by node."""
        self._leaving: set[asyncio.Task[None]] = set()

    def note(
        self, node: int, failure: Exception | None, leaving: Coroutine[Any, Any, None]
    ) -> None:
        """A broker has ended itself; leaving: how it stands for election no longer."""
        self.failures[node] = failure
        task = asyncio.create_task(leaving)
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    async def cancel(self) -> None:
        """The cluster ends: nobody need leave any more."""
        for task in self._leaving:
            task.cancel()
        await asyncio.gather(*self._leaving, return_exceptions=True)
