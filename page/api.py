"""The page's files, and its calls. What takes its time is done in a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from barnabas.captures.kafka.columns import COLUMNS
from barnabas.captures.kafka.filters import Filter, exchange_filter
from barnabas.page.detail import detail, row
from barnabas.page.store import Store
from barnabas.proxy.control.bodies import error_response, json_response

ROWS: Final = 500
"""Rows in one answer at most."""

DIGITS: Final = 18
"""Of a number in a query."""

HEADERS: Final = (
    (b"content-security-policy", b"default-src 'self'; frame-ancestors 'none'; base-uri 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)


def application(store: Store, source: dict[str, Any]) -> ASGIApp:
    """The page without its guard. source: what it says of where the exchanges are from."""
    api = _Api(store, source)
    return with_headers(
        Starlette(
            routes=[
                Route("/api/source", api.about),
                Route("/api/columns", api.columns),
                Route("/api/exchanges", api.exchanges),
                Route("/api/rows", api.rows),
                Route("/api/exchanges/{number}", api.exchange),
                Mount("/", StaticFiles(directory=Path(__file__).parent / "static", html=True)),
            ],
            exception_handlers={HTTPException: error_response},
        )
    )


def with_headers(app: ASGIApp) -> ASGIApp:
    """The application, each answer with the headers that keep the page to itself."""

    async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        await app(scope, receive, sending)

    return wrapped


@dataclass(frozen=True, slots=True)
class _Api:
    store: Store
    source: dict[str, Any]

    async def about(self, _: Request) -> Response:
        """Where the exchanges are from."""
        return json_response({**self.source, **self._state()})

    async def columns(self, _: Request) -> Response:
        """What a filter can name."""
        return json_response([{"name": name, "about": about} for name, about in COLUMNS])

    async def exchanges(self, request: Request) -> Response:
        """Numbers behind `after` that pass `filter`, and where to go on."""
        get = request.query_params.get
        passes = self._filter(get("filter"))
        after = -1 if get("after", "-1") == "-1" else _number(get("after", ""), "after")
        state = self._state()  # before: what comes meanwhile is asked for next time
        found = await asyncio.to_thread(self.store.find, passes, after)
        return json_response({"numbers": found.numbers, "after": found.after, **state})

    async def rows(self, request: Request) -> Response:
        """The rows with these `numbers`, as far as they are held."""
        numbers = [
            _number(text, "numbers") for text in request.query_params.get("numbers", "").split(",")
        ]
        if len(numbers) > ROWS:
            raise HTTPException(400, f"numbers are at most {ROWS}")
        return await self._made(
            lambda: [
                row(number, exchange, self.store.context)
                for number in numbers
                if (exchange := self.store.get(number)) is not None
            ]
        )

    async def exchange(self, request: Request) -> Response:
        """One with all there is to it."""
        number = _number(request.path_params["number"], "an exchange")
        found = self.store.get(number)
        if found is None:
            raise HTTPException(404, f"exchange {number} is not held (any longer)")
        return await self._made(lambda: detail(number, found, self.store.context))

    async def _made(self, make: Callable[[], Any]) -> Response:
        return await asyncio.to_thread(lambda: json_response(make()))

    def _state(self) -> dict[str, Any]:
        store = self.store
        over = store.over
        return {"first": store.first, "end": store.end, "over": over, "trouble": store.trouble}

    def _filter(self, text: str | None) -> Filter:
        if not text:
            return lambda _: True
        try:
            return exchange_filter(text, self.store.context.topics)
        except ValueError as problem:
            raise HTTPException(400, f"filter: {problem}") from None


def _number(text: str, what: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= DIGITS):
        raise HTTPException(400, f"{what}: give numbers")
    return int(text)
