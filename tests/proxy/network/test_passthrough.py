"""TLS that passes untouched: what comes out is what went in, and both ends know each other."""

from __future__ import annotations

import asyncio
import contextlib
import os
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trustme

from barnabas.proxy.network.passthrough import Passthrough, Route
from tests.proxy.servers import SOON, Handler, ends, reset_on_close

CA = trustme.CA()
LOCAL = ("127.0.0.1", 0)


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    writer.close()


@asynccontextmanager
async def running(broker: Handler, said: list[str], tls: bool) -> AsyncIterator[Passthrough]:
    context = None
    if tls:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        CA.issue_cert("localhost").configure_cert(context)
    server = await asyncio.start_server(broker, *LOCAL, ssl=context)
    passthrough = Passthrough([Route(LOCAL, server.sockets[0].getsockname())], say=said.append)
    await passthrough.start()
    try:
        yield passthrough
    finally:
        await passthrough.stop()
        server.close()
        for _ in range(20):
            await asyncio.sleep(0)


async def test_the_brokers_certificate_reaches_the_client() -> None:
    data = os.urandom(3 << 20)

    said: list[str] = []
    async with running(echo, said, tls=True) as passthrough:
        context = ssl.create_default_context()
        CA.configure_trust(context)
        reader, writer = await asyncio.open_connection(
            *passthrough.listening[0], ssl=context, server_hostname="localhost"
        )
        writer.write(data)
        assert await asyncio.wait_for(reader.readexactly(len(data)), SOON) == data
        writer.close()
        assert passthrough.bytes["request"] > len(data)
    assert said[0] == "tls: forwarded without decryption: no log, no capture, no rules"
    assert "advertised.listeners must be 127.0.0.1" in said[1]


async def test_a_half_that_is_closed_stays_half() -> None:
    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        everything = await reader.read(-1)
        writer.write(everything[::-1])
        writer.close()

    async with running(broker, [], tls=False) as passthrough:
        reader, writer = await asyncio.open_connection(*passthrough.listening[0])
        writer.write(b"abc")
        writer.write_eof()
        assert await asyncio.wait_for(reader.read(-1), SOON) == b"cba"
        writer.close()


async def test_a_reset_ends_both_sides() -> None:
    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        reset_on_close(writer)
        writer.close()

    async with running(broker, [], tls=False) as passthrough:
        reader, writer = await asyncio.open_connection(*passthrough.listening[0])
        writer.write(b"abc")
        assert await asyncio.wait_for(reader.read(-1), SOON) == b""
        writer.close()


async def test_a_broker_that_is_not_there() -> None:
    said: list[str] = []
    passthrough = Passthrough([Route(LOCAL, ("127.0.0.1", 1))], say=said.append)
    await passthrough.start()
    for _ in range(3):
        await ends(passthrough.listening[0][1])
    await passthrough.stop()
    (line,) = [line for line in said if "127.0.0.1:1 can't be reached: " in line]
    assert line.startswith("connection 1 (")


async def test_one_address_that_is_taken_and_nothing_listens() -> None:
    server = await asyncio.start_server(echo, *LOCAL)
    taken = server.sockets[0].getsockname()
    passthrough = Passthrough([Route(LOCAL, LOCAL), Route(taken, LOCAL)], say=lambda _: None)
    with pytest.raises(OSError):
        await passthrough.start()
    with pytest.raises(OSError):
        await asyncio.open_connection(*passthrough.listening[0])
    server.close()
