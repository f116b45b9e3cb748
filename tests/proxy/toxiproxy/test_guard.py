"""No web page may use the API."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from starlette.responses import PlainTextResponse

from barnabas.proxy.toxiproxy.guard import guard


def status(headers: dict[str, str], *, any_host: bool) -> int:
    """What the guard answers; 200 is what the application behind it does."""
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
