"""A proxy with real sockets, in front of one broker of the test's own."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import trustme

from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.writing.writer import CaptureWriter
from barnabas.proxy.faults import FAULTS, Fault
from barnabas.proxy.network.clock import clock
from barnabas.proxy.network.options import Options
from barnabas.proxy.network.server import Proxy
from barnabas.proxy.network.surroundings import Outputs
from barnabas.proxy.rules.rules import Rules
from barnabas.proxy.scenario.file import loads
from barnabas.specs import api
from tests.proxy.frames import request, response

Brokers = dict[int, tuple[str, int]]
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

SOON = 60.0
CA = trustme.CA()


async def read_frame(reader: asyncio.StreamReader) -> bytes:
    (size,) = struct.unpack(">i", await reader.readexactly(4))
    return await reader.readexactly(size)


async def echo_metadata(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    port: int = 1,
    brokers: Brokers | None = None,
) -> None:
    """Answer every request as Metadata v1: with these brokers, or three at a port."""
    known = brokers or dict.fromkeys(range(3), ("127.0.0.1", port))
    nodes = [{"node_id": n, "host": host, "port": at} for n, (host, at) in known.items()]
    try:
        while True:
            frame = await read_frame(reader)
            (correlation_id,) = struct.unpack_from(">i", frame, 4)
            writer.write(response("Metadata", correlation_id, brokers=nodes))
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def ask(port: int, *frames: bytes) -> bytes:
    """Send requests on a connection of their own; the answer to the last, without its size."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    answer = b""
    for frame in frames:
        writer.write(frame)
        answer = await asyncio.wait_for(read_frame(reader), SOON)
    writer.close()
    return answer


async def ends(port: int) -> None:
    """Assert that a client is refused at a port."""
    reader, writer = await asyncio.wait_for(asyncio.open_connection("127.0.0.1", port), SOON)
    assert await asyncio.wait_for(reader.read(), SOON) == b""
    writer.close()


def reset_on_close(writer: asyncio.StreamWriter) -> None:
    linger = struct.pack("ii", 1, 0)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)


class Running:
    """A proxy in front of one broker of the test's own."""

    def __init__(self, proxy: Proxy, done: list[Exchange], said: list[str]) -> None:
        self.proxy = proxy
        self.done = done
        self.said = said

    @property
    def port(self) -> int:
        """Return the proxy's port for clients that know no broker yet."""
        return self.proxy.address[1]

    async def connect(
        self, tls: ssl.SSLContext | None = None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        name = None if tls is None else "localhost"
        return await asyncio.open_connection(*self.proxy.address, ssl=tls, server_hostname=name)

    async def until(self, condition: Callable[[], Any]) -> None:
        async with asyncio.timeout(SOON):
            while not condition():
                await asyncio.sleep(0.005)

    async def metadata(self) -> dict[int, int]:
        """Node id -> port, as a client of its own learns it."""
        answer = await ask(self.port, request("Metadata", 1))
        found = api("Metadata").response.codec(1).decode(answer[4:])
        return {broker["node_id"]: broker["port"] for broker in found["brokers"]}


@asynccontextmanager
async def running(
    broker: Handler | None,
    scenario: str = "",
    capture: Path | CaptureWriter | None = None,
    broker_tls: ssl.SSLContext | None = None,
    shown: Callable[[Exchange], None] = lambda _: None,
    faults: tuple[Fault, ...] = FAULTS,
    **options: Any,
) -> AsyncIterator[Running]:
    done: list[Exchange] = []
    said: list[str] = []
    server = None
    port = 1
    # first what may be refused: then no server is left open
    rules = Rules(loads(scenario, faults=faults) if scenario else None)
    rules.began = clock()

    def finished(exchange: Exchange) -> None:
        done.append(exchange)
        shown(exchange)

    if broker is not None:
        server = await asyncio.start_server(broker, "127.0.0.1", 0, ssl=broker_tls)
        port = server.sockets[0].getsockname()[1]
    proxy = Proxy(
        Options([("127.0.0.1", port)], **options),
        rules,
        Outputs(
            capture=CaptureWriter(capture, limit=None, meta=rules.meta())
            if isinstance(capture, Path)
            else capture,
            done=finished,
            say=said.append,
        ),
    )
    await proxy.start()
    try:
        yield Running(proxy, done, said)
    finally:
        await proxy.stop()
        if server is not None:
            server.close()
            for _ in range(20):  # its handlers notice that their clients are gone
                await asyncio.sleep(0)


def server_context() -> ssl.SSLContext:
    """Return the context of a broker with a certificate of CA."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    CA.issue_cert("127.0.0.1", "localhost").configure_cert(context)
    return context


def client_context(ca: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    ca.configure_trust(context)
    return context


def to_broker() -> ssl.SSLContext:
    return client_context(CA)
