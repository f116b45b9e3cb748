"""The live connections of a replay: one for each recorded connection and broker that it is for."""

from __future__ import annotations

import asyncio

from barnabas.peers.replay.connection import Address, Dial, LiveConnection


class LiveConnections:
    """Opened when they are first wanted, and again when they were closed; (recorded connection, node id)
    says which."""

    def __init__(self, dial: Dial) -> None:
        self._dial = dial
        self._open: dict[tuple[int, int], LiveConnection] = {}
        self._closing: dict[asyncio.Task[None], LiveConnection] = {}
        """Those that end when all is answered on them."""

    async def ready(self, place: tuple[int, int], address: Address) -> LiveConnection:
        """One on which a request may be sent at once. Raises OSError."""
        found = self._open.get(place)
        if found is None or found.gone:
            if found is not None:
                await found.close()
            found = self._open[place] = await self._dial(address)
        await found.ready()
        return found

    def end(self, recorded: int) -> None:
        """A recorded connection has no more requests: its live ones end when they are answered."""
        for place in [place for place in self._open if place[0] == recorded]:
            found = self._open.pop(place)
            task = asyncio.create_task(_closed(found))
            self._closing[task] = found
            task.add_done_callback(self._closing.pop)

    async def close(self) -> None:
        """Close all of them at once."""
        connections = [*self._open.values(), *self._closing.values()]
        tasks = list(self._closing)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for connection in connections:
            await connection.close()
        self._open.clear()


async def _closed(connection: LiveConnection) -> None:
    await connection.idle()
    await connection.close()
