"""The page: its files, which hold nothing and need no token, and its requests, which do."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from starlette.responses import FileResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from barnabas.captures.values.value import Values
from barnabas.page.exchanges import Exchanges
from barnabas.page.forms import Origin
from barnabas.page.openapi import described
from barnabas.page.sequence import Sequence
from barnabas.page.take_away import TakeAway
from barnabas.page.views import Views
from barnabas.proxy.control.api import application as versioned
from barnabas.proxy.control.history import History

STATIC: Final = Path(__file__).parent / "static"

SHARED: Final = ("barnabas.captures.summary", "static")
"""What the report of `barnabas analyze` has, too."""

HEADERS: Final = (
    (b"content-security-policy", b"default-src 'self'; frame-ancestors 'none'; base-uri 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)


def is_file(path: str) -> bool:
    """Whether a path is one of the page's files; see `barnabas.proxy.control.guard.guard`.

    >>> is_file("/"), is_file("/page/app.js"), is_file("/v1/exchanges/1")
    (True, True, False)
    """
    return path == "/" or path.startswith("/page/")


def api(
    history: History,
    topics: Mapping[uuid.UUID, str],
    source: Mapping[str, Any],
    trouble: Callable[[], str] = str,
    origin: Origin | None = None,
    reading: Values | None = None,
) -> list[Route]:
    """The page's own requests. For the others see `Exchanges`, `TakeAway`."""
    return [
        *Exchanges(history, topics, source, trouble, reading or Values()).routes,
        *Views(history).routes,
        *TakeAway(history, origin or Origin(str(source["name"]))).routes,
        *Sequence(history).routes,
    ]


def application(
    history: History,
    topics: Mapping[uuid.UUID, str],
    source: Mapping[str, Any],
    steering: Iterable[Route] = (),
    trouble: Callable[[], str] = str,
    origin: Origin | None = None,
    reading: Values | None = None,
) -> ASGIApp:
    """The page without its guard.

    reading: how keys and values of records are read. steering: what else is asked of a live proxy, see
    `barnabas.proxy.control.api.routes`. For the others see `api`.
    """
    return with_headers(
        versioned(
            # steering has /exchanges/stream, which is no number of one
            described([*steering, *api(history, topics, source, trouble, origin, reading)]),
            files=[
                Route("/", lambda _: FileResponse(STATIC / "index.html")),
                Mount("/page", StaticFiles(directory=STATIC, packages=[SHARED])),
            ],
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
