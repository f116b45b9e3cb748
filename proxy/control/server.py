"""The control port's server: uvicorn in the proxy's own loop."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from barnabas.proxy.control.guard import Address, guard, hosts

GOODBYE = 1.0
"""Seconds that requests under way get when the server stops."""

CONNECTIONS: Final = 128
"""The most connections: each takes a descriptor, even without a request, and the proxy's clients need
them."""


class _Server(uvicorn.Server):
    """A server that leaves signals to the owner of the loop."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _Connection(H11Protocol):
    """A connection that, if there are too many, replaces one without a whole request."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > CONNECTIONS:
            connections = (each for each in self.connections if isinstance(each, _Connection))
            idle = next((each for each in connections if each is not self and not each.asks), self)
            self.connections.discard(idle)  # which it leaves late
            idle.transport.abort()

    @property
    def asks(self) -> bool:
        """Return whether a whole request has arrived and has no whole response yet."""
        cycle = self.cycle
        return cycle is not None and not (cycle.more_body or cycle.response_complete)


class RunningServer:
    """A running server and its address."""

    def __init__(self, address: Address, server: uvicorn.Server, task: asyncio.Task[None]) -> None:
        self.address = address
        self._server = server
        self._task = task

    async def stop(self) -> None:
        """Let requests under way finish for a moment, and close."""
        self._server.should_exit = True
        await asyncio.wait({self._task}, timeout=GOODBYE)
        for connection in list(self._server.server_state.connections):
            connection.transport.abort()  # its reader does not read
        await self._task


async def serve(
    app: ASGIApp, address: Address, token: str, free: Callable[[str], bool] | None = None
) -> RunningServer:
    """Serve an application with its guard on loopback; for `free` see `guard`.

    Raises:
        OSError: The address is unavailable.
    """
    return await serve_guarded(lambda bound: guard(app, token, hosts(bound), free), address)


async def serve_guarded(app: Callable[[Address], ASGIApp], address: Address) -> RunningServer:
    """Serve an application that has its own guard; `app` makes it for the listening address.

    Raises:
        OSError: The address is unavailable.
    """
    host, port = address
    listener = socket.create_server(
        ("127.0.0.1" if host == "localhost" else host, port),
        family=socket.AF_INET6 if ":" in host else socket.AF_INET,
    )
    bound: Address = listener.getsockname()[:2]
    config = uvicorn.Config(
        app(bound),
        http=_Connection,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
    )
    server = _Server(config)
    task = asyncio.get_running_loop().create_task(server.serve([listener]))
    while not (server.started or task.done()):  # noqa: ASYNC110 - it starts at once
        await asyncio.sleep(0)
    if task.done():
        listener.close()
        await task
    return RunningServer(bound, server, task)
