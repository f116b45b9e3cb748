"""The server of the control port: where it listens, and how it ends."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from itertools import islice

import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from barnabas.proxy.control.server import CONNECTIONS, RunningServer, serve
from tests.answer import Answer
from tests.proxy.control.desk import answered
from tests.proxy.servers import SOON

HELLO: ASGIApp = PlainTextResponse("hello")


async def ask(serving: RunningServer, host: str, headers: str = "") -> Answer:
    reader, writer = await asyncio.open_connection(*serving.address)
    head = f"GET / HTTP/1.0\r\nHost: {host}\r\nAuthorization: Bearer t\r\n{headers}\r\n"
    writer.write(head.encode())
    answer = await answered(reader)
    writer.close()
    return answer


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
async def test_it_listens_on_loopback_and_knows_its_port(host: str) -> None:
    try:
        serving = await serve(HELLO, (host, 0), "t")
    except OSError:
        assert host == "::1", "only IPv6 may be missing"
        pytest.skip("this machine has no IPv6 on loopback")
    where, port = serving.address
    assert where in ("127.0.0.1", "::1")
    for name in (f"[{where}]" if ":" in where else where, "localhost"):
        answer = await ask(serving, f"{name}:{port}")
        assert (answer.status, answer.body) == (200, b"hello")
    assert "server" not in answer.headers
    await serving.stop()
    with pytest.raises(OSError):
        await asyncio.open_connection(*serving.address)


@pytest.mark.parametrize("chunk", [b"", b"x" * 100_000], ids=["silent", "does not read"])
async def test_an_answer_without_end_does_not_hold_up_the_end(chunk: bytes) -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield chunk
            await asyncio.sleep(0.001)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await StreamingResponse(endless())(scope, receive, send)

    serving = await serve(app, ("127.0.0.1", 0), "t")
    host, port = serving.address
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(
        f"GET / HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer t\r\n\r\n".encode()
    )
    await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), SOON)
    async with asyncio.timeout(5):
        await serving.stop()
    writer.transport.abort()


@pytest.mark.parametrize("said", [
    "GET / HT",
    "POST / HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer t\r\nContent-Length: 9\r\n\r\nnot",
])  # fmt: skip
async def test_connections_that_say_half_a_request_make_room(said: str) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        with contextlib.suppress(ClientDisconnect):
            await Request(scope, receive).body()
        await HELLO(scope, receive, send)

    serving = await serve(app, ("127.0.0.1", 0), "t")
    host = f"127.0.0.1:{serving.address[1]}"
    opened = [await asyncio.open_connection(*serving.address) for _ in range(CONNECTIONS + 20)]
    for _, writer in opened:
        writer.write(said.format(host).encode())
    assert (await ask(serving, host)).status == 200
    ends = [asyncio.create_task(reader.read()) for reader, _ in opened]
    async with asyncio.timeout(SOON):
        for each in islice(asyncio.as_completed(ends), 20):
            with contextlib.suppress(ConnectionError):
                assert await each == b""
    assert (await ask(serving, host)).status == 200
    await serving.stop()
    await asyncio.gather(*ends, return_exceptions=True)
    for _, writer in opened:
        writer.close()
