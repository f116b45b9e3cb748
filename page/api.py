"""The page: its files, which hold nothing and need no token, and its requests, which do."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
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


@dataclass(frozen=True, slots=True)
class Shown:
    """The exchanges that the page shows."""

    history: History
    topics: Mapping[uuid.UUID, str]
    """Names of topics by id."""
    source: Mapping[str, Any]
    """What the page displays of where the exchanges are from."""
    trouble: Callable[[], str] = str
    """Returns why no more come, if that is not the end, and what could not be read."""
    origin: Origin | None = None
    """Where a file of exchanges takes their packets from."""
    reading: Values = field(default_factory=Values)
    """How keys and values of records are read."""


def api(shown: Shown) -> list[Route]:
    """Return the page's own requests."""
    history, origin = shown.history, shown.origin or Origin(str(shown.source["name"]))
    return [
        *Exchanges(history, shown.topics, shown.source, shown.trouble, shown.reading).routes,
        *Views(history).routes,
        *TakeAway(history, origin).routes,
        *Sequence(history).routes,
    ]


def application(shown: Shown, steering: Iterable[Route] = ()) -> ASGIApp:
    """Return the page without its guard.

    Args:
        shown: the exchanges.
        steering: requests that steer a live proxy, see `barnabas.proxy.control.api.routes`.
    """
    return with_headers(
        versioned(
            # steering has /exchanges/stream, which is no number of one
            described([*steering, *api(shown)]),
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
