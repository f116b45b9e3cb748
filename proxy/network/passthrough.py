"""Forwards TLS untouched: bytes from one socket to another, none of them read.

Addresses in encrypted responses cannot be replaced. Clients therefore stay on the proxy only if the brokers
advertise its listeners as their own. There is one listener for each broker.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from barnabas.captures.host_port import endpoint_text
from barnabas.proxy.edits.topology import Address
from barnabas.proxy.network.rate_limited_lines import RateLimitedLines
from barnabas.proxy.network.sockets import address_of, dial, listen
from barnabas.trouble import reason_of

CHUNK: Final = 64 << 10
"""The bytes to read at once, and the most that wait for a slow reader."""

CONNECT_TIMEOUT: Final = 10.0
"""Seconds to wait for a broker."""


class Route(NamedTuple):
    """A listener's address, and the broker that it leads to."""

    listen: Address
    broker: Address


class Passthrough:
    """Listeners and the connections through them; all methods belong to one loop."""

    def __init__(self, routes: Sequence[Route], *, say: Callable[[str], None]) -> None:
        self.listening: list[Address] = []
        self.connections = 0
        """The number of accepted connections."""
        self.bytes = {"request": 0, "response": 0}
        """The forwarded bytes: from clients, from brokers."""
        self._routes = routes
        self._say = say
        self._unreachable = RateLimitedLines(say)
        self._servers: list[asyncio.Server] = []
        self._open: set[asyncio.Task[None]] = set()

    def explain(self) -> list[str]:
        """Return lines for the start: what is forwarded, and what must hold for it."""
        listeners = ", ".join(endpoint_text(route.listen) for route in self._routes)
        return [
            "tls: forwarded without decryption: no log, no capture, no rules",
            f"tls: addresses are not rewritten: the brokers' advertised.listeners must be {listeners}, or "
            "clients go past the proxy, and their certificates are checked for those names",
        ]

    async def start(self) -> None:
        """Open all listeners.

        Raises:
            OSError: An address is unavailable; no listener is open then.
        """
        for line in self.explain():
            self._say(line)
        try:
            for route in self._routes:

                async def serve(
                    reader: asyncio.StreamReader,
                    writer: asyncio.StreamWriter,
                    broker: Address = route.broker,
                ) -> None:
                    await self._serve(reader, writer, broker)

                listener = listen(route.listen)
                server = await asyncio.start_server(serve, sock=listener, limit=CHUNK)
                self._servers.append(server)
                address = address_of(listener.getsockname())
                self.listening.append(address)
                self._say(
                    f"listening on {endpoint_text(address)} for {endpoint_text(route.broker)}"
                )
        except OSError:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Close all listeners and connections at once: the end of an exchange cannot be seen."""
        for server in self._servers:
            server.close()
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, broker: Address
    ) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101
        self._open.add(task)
        self.connections += 1
        peer = endpoint_text(address_of(writer.get_extra_info("peername")))
        name = f"connection {self.connections} ({peer})"
        try:
            try:
                sock, _ = await dial([broker], CONNECT_TIMEOUT)
                up, down = await asyncio.open_connection(sock=sock, limit=CHUNK)
            except OSError as problem:
                address, now = endpoint_text(broker), asyncio.get_running_loop().time()
                line = f"{name}: {address} can't be reached: {reason_of(problem)}; closed"
                self._unreachable.say(address, line, now)
                return
            with contextlib.closing(down):
                await self._both(reader, down, up, writer)
        except asyncio.CancelledError:
            pass  # it stops
        finally:
            self._open.discard(task)
            writer.close()

    async def _both(
        self,
        client: asyncio.StreamReader,
        to_broker: asyncio.StreamWriter,
        broker: asyncio.StreamReader,
        to_client: asyncio.StreamWriter,
    ) -> None:
        """Forward both directions until both have ended or one has failed."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._copy("request", client, to_broker))
                group.create_task(self._copy("response", broker, to_client))
        except* OSError:
            pass

    async def _copy(
        self, direction: str, source: asyncio.StreamReader, target: asyncio.StreamWriter
    ) -> None:
        while data := await source.read(CHUNK):
            self.bytes[direction] += len(data)
            target.write(data)
            await target.drain()
        if target.can_write_eof():
            target.write_eof()
