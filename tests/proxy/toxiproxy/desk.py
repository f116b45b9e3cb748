"""A store with real sockets, in front of an upstream of the test's own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from barnabas.proxy.edits.topology import Address
from barnabas.proxy.network.options import Options
from barnabas.proxy.network.server import Proxy
from barnabas.proxy.network.surroundings import Outputs, Surroundings
from barnabas.proxy.rules.rules import Rules
from barnabas.proxy.toxiproxy.api_proxy import ApiProxy
from barnabas.proxy.toxiproxy.store import Store
from tests.proxy.servers import Handler

SOON = 10.0

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def new_store(said: list[str] | None = None) -> Store:
    """Return a store whose proxies report to a list, or to nobody."""

    def make(proxied: ApiProxy, place: Address) -> Proxy:
        return Proxy(
            Options([proxied.target], listen=place, any_protocol=True, drain=0),
            Rules(proxied.rules()),
            Outputs() if said is None else Outputs(say=said.append),
            Surroundings(
                elsewhere=lambda node: store.elsewhere(proxied, node),
                neighbours=lambda: store.listeners(),
                layer=proxied.layer,
            ),
        )

    store = Store(lambda name, listen, upstream: ApiProxy(name, listen, upstream, make))
    return store


def body(**given: Any) -> bytes:
    return json.dumps(given).encode()


class Desk:
    """A proxy in front of an upstream."""

    def __init__(self, store: Store, proxy: ApiProxy) -> None:
        self.store = store
        self.proxy = proxy
        self.writers: list[asyncio.StreamWriter] = []

    async def connect(self) -> Streams:
        host, _, port = self.proxy.listen.rpartition(":")
        found = await asyncio.wait_for(asyncio.open_connection(host, int(port)), SOON)
        self.writers.append(found[1])
        return found

    def add(self, type_: str, stream: str = "downstream", /, **attributes: Any) -> str:
        return self.proxy.add(body(type=type_, stream=stream, attributes=attributes)).name


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send back all bytes until the client ends."""
    try:
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


@asynccontextmanager
async def desk(handler: Handler = echo) -> AsyncIterator[Desk]:
    served: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        served.add(task)
        try:
            await handler(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    store = new_store()
    given = body(name="one", listen="127.0.0.1:0", upstream=f"127.0.0.1:{port}")
    found = Desk(store, await store.create(given))
    try:
        yield found
    finally:
        await store.end()
        server.close()
        for writer in found.writers:
            writer.close()
        for task in served:
            task.cancel()
        await asyncio.gather(*served, return_exceptions=True)


async def read_all(reader: asyncio.StreamReader) -> bytes:
    return await asyncio.wait_for(reader.read(), SOON)
