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
"""Connections at a time: also one that says nothing takes a descriptor, which the proxy's clients need."""


class _Server(uvicorn.Server):
    """One that leaves signals to whoever runs the loop."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _Connection(H11Protocol):
    """A connection that takes the place of one without a whole request if there are too many."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > CONNECTIONS:
            others = (each for each in self.connections if isinstance(each, _Connection))
            one = next((each for each in others if each is not self and not each.asks), self)
            self.connections.discard(one)  # which it leaves late
            one.transport.abort()

    @property
    def asks(self) -> bool:
        """Whether a request has come, to its end, and is not answered yet."""
        cycle = self.cycle
        return cycle is not None and not (cycle.more_body or cycle.response_complete)


class Serving:
    """A server that runs; `address` is where."""

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
) -> Serving:
    """Serve an application, behind its guard, on loopback. Raises OSError if it can't listen.

    free: see `guard`.
    """
    return await serve_guarded(lambda bound: guard(app, token, hosts(bound), free), address)


async def serve_guarded(app: Callable[[Address], ASGIApp], address: Address) -> Serving:
    """Serve an application that has a guard, and is made for where it listens. Raises OSError if it can't."""
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
    return Serving(bound, server, task)
