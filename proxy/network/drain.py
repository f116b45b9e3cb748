"""The end of a proxy: exchanges under way get some time, then all connections are closed."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Final

from barnabas.proxy.network.relay import Relay

FLUSH: Final = 1.0
"""Seconds that sockets get to send written bytes before they are closed."""

_LOOK: Final = 0.01
"""Seconds between two looks at what is under way."""


class Drain:
    """The time that remains, on the loop's clock."""

    def __init__(self, patience: float) -> None:
        """Start the drain; exchanges under way get `patience` seconds."""
        self._loop = asyncio.get_running_loop()
        self._until = self._loop.time() + patience

    def hurry(self) -> None:
        """End the remaining time now."""
        self._until = min(self._until, self._loop.time())

    async def finish(self, relays: Collection[Relay]) -> None:
        """Wait until no exchange is under way, or the time is up."""
        while self._loop.time() < self._until:
            if all(relay.connection.idle for relay in relays):
                return
            await asyncio.sleep(_LOOK)

    async def close(self, relays: Collection[Relay]) -> None:
        """Close all connections; written bytes may still leave for a moment."""
        for relay in relays:
            relay.close()
        while any(relay.open for relay in relays) and self._loop.time() < self._until + FLUSH:  # noqa: ASYNC110
            await asyncio.sleep(_LOOK)
        for relay in relays:
            relay.abort()
