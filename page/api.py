"""The page as a web application: its files, which need no token, and its requests, which do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from starlette.responses import FileResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from barnabas.captures.values.value import Values
from barnabas.page.bookmarks import Bookmarks
from barnabas.page.exchanges import Exchanges
from barnabas.page.forms import Origin
from barnabas.page.openapi import described
from barnabas.page.overview import Overview
from barnabas.page.retry_chains import RetryChains
from barnabas.page.sequence import Sequence
from barnabas.page.take_away import TakeAway
from barnabas.page.views import Views
from barnabas.proxy.control.api import application as versioned
from barnabas.proxy.control.history import History

STATIC: Final = Path(__file__).parent / "static"

SHARED: Final = ("barnabas.look", "static")
"""Package and folder of the files that other pages use, too."""

HEADERS: Final = (
    (b"content-security-policy", b"default-src 'self'; frame-ancestors 'none'; base-uri 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)


def is_file(path: str) -> bool:
    """Check that a path is one of the page's files, see `barnabas.proxy.control.guard.guard`.

    >>> is_file("/"), is_file("/page/app.js"), is_file("/v1/exchanges/1")
    (True, True, False)
    """
    return path == "/" or path.startswith("/page/")


@dataclass(frozen=True, slots=True)
class PageContent:
    """The exchanges that a page shows, and where they are from."""

    history: History
    source: Mapping[str, Any]
    """A description of the capture or proxy, which the page displays."""
    trouble: Callable[[], str] = str
    """Returns why no more exchanges arrive, other than the end, and what could not be read."""
    origin: Origin | None = None
    """The source of packets for a file of exchanges."""
    reading: Values = field(default_factory=Values)
    """Decodes keys and values of records."""
    bookmarks: Path | None = None
    """The file of bookmarks; None: they are in memory."""


def api(content: PageContent) -> list[Route]:
    """Return the page's own requests."""
    history, origin = content.history, content.origin or Origin(str(content.source["name"]))
    return [
        *RetryChains(history).routes,  # first: /exchanges/retries is not /exchanges/{number}
        *Exchanges(history, content.source, content.trouble, content.reading).routes,
        *Overview(history, live=content.source["kind"] == "live").routes,
        *Views(history).routes,
        *TakeAway(history, origin, content.reading).routes,
        *Bookmarks(history, content.bookmarks).routes,
        *Sequence(history).routes,
    ]


def application(content: PageContent, steering: Iterable[Route] = ()) -> ASGIApp:
    """Return the page without its guard.

    Args:
        content: The exchanges.
        steering: Requests that steer a live proxy, see `barnabas.proxy.control.api.routes`.
    """
    return with_headers(
        versioned(
            # steering comes first: /exchanges/stream is not /exchanges/{number}
            described([*steering, *api(content)]),
            files=[
                Route("/", lambda _: FileResponse(STATIC / "index.html")),
                Mount("/page", StaticFiles(directory=STATIC, packages=[SHARED])),
            ],
        )
    )


def with_headers(app: ASGIApp) -> ASGIApp:
    """Return an application whose responses have the security headers of the page."""

    async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        await app(scope, receive, sending)

    return wrapped
