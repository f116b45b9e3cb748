"""The API over HTTP: what is not compared with toxiproxy's own server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.responses import PlainTextResponse

from barnabas.proxy.control.server import RunningServer, serve_guarded
from barnabas.proxy.toxiproxy.api import LONGEST, application
from barnabas.proxy.toxiproxy.guard import guard
from tests.answer import Answer
from tests.proxy.control.desk import answered
from tests.proxy.toxiproxy.desk import SOON, Desk, desk
from tests.proxy.toxiproxy.test_layer import PING, exchange


@asynccontextmanager
async def served() -> AsyncIterator[tuple[Desk, RunningServer]]:
    async with desk() as at:
        app = guard(application(at.store), any_host=False)
        serving = await serve_guarded(lambda _: app, ("127.0.0.1", 0))
        try:
            yield at, serving
        finally:
            await serving.stop()


async def ask(serving: RunningServer, head: str, body: bytes = b"", *, more: int = 0) -> Answer:
    reader, writer = await asyncio.open_connection(*serving.address)
    size = len(body) + more
    writer.write(f"{head} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {size}\r\n".encode())
    writer.write(b"Connection: close\r\n\r\n" + body)
    try:
        return await asyncio.wait_for(answered(reader), SOON)
    finally:
        writer.close()


async def test_a_body_that_is_too_long_is_refused() -> None:
    async with served() as (at, serving):
        answer = await ask(serving, "POST /proxies", bytes(LONGEST + 1))
        assert answer.status == 413
        assert json.loads(answer.body) == {"error": "the body is longer than 10 MiB", "status": 413}
        assert set(at.store.proxies) == {"one"}


async def test_who_sends_a_body_slowly_keeps_nobody_waiting() -> None:
    async with served() as (_, serving):
        slow = asyncio.create_task(ask(serving, "POST /proxies", b"{", more=1))
        assert (await ask(serving, "GET /proxies")).status == 200
        assert not slow.done()
        slow.cancel()
        await asyncio.gather(slow, return_exceptions=True)


async def test_metrics_count_the_bytes_of_each_stream() -> None:
    async with served() as (at, serving):
        await exchange(await at.connect())
        text = (await ask(serving, "GET /metrics")).body.decode()
        labels = (
            f'direction="upstream",listener="{at.proxy.listen}",proxy="one",'
            f'upstream="{at.proxy.upstream}"'
        )
        for way in ("received", "sent"):
            assert f"toxiproxy_proxy_{way}_bytes_total{{{labels}}} {len(PING)}.0" in text


def status(headers: dict[str, str], *, any_host: bool) -> int:
    """Return the guard's status; 200 comes from the application that it protects."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "GET", "path": "/", "headers": raw}
    app = guard(PlainTextResponse("hello"), any_host=any_host)
    asyncio.run(app(scope, None, send))  # type: ignore[arg-type]
    found: int = sent[0]["status"]
    return found


@pytest.mark.parametrize(("headers", "wanted"), [
    ({"host": "localhost:8474"}, 200),
    ({"host": "127.0.0.1:8474"}, 200),
    ({"host": "[::1]:8474"}, 200),
    ({"host": "toxiproxy:8474"}, 200),
    ({"host": "evil.example:8474"}, 403),
    ({"host": "127.0.0.1.evil.example"}, 403),
    ({"host": ""}, 403),
    ({}, 403),
    ({"host": "localhost", "origin": "http://localhost"}, 403),
])  # fmt: skip
def test_a_host_that_may_be_in_the_internet_and_an_origin_are_refused(
    headers: dict[str, str], wanted: int
) -> None:
    assert status(headers, any_host=False) == wanted


def test_where_all_may_come_any_host_may_and_still_no_page() -> None:
    assert status({"host": "toxi.test.example"}, any_host=True) == 200
    assert status({"host": "localhost", "origin": "http://a.example"}, any_host=True) == 403
