"""Protects the control port: only clients with the token, and no web page but its own, may use it.

A page in a browser can send requests to loopback. It does not know the token, and its requests have an
Origin. If its own name resolves to 127.0.0.1, that name is in Host (DNS rebinding).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from barnabas.captures.host_port import endpoint_text

Address = tuple[str, int]


def new_token() -> str:
    """Return a token that cannot be guessed: 32 random bytes as text."""
    return secrets.token_urlsafe(32)


def hosts(address: Address) -> tuple[str, ...]:
    """Return the valid values of Host for a server at this address."""
    return endpoint_text(address), f"localhost:{address[1]}"


def guard(
    app: ASGIApp, token: str, allowed: Iterable[str], free: Callable[[str], bool] | None = None
) -> ASGIApp:
    """Return the application with its checks: 403 for a foreign Host or any Origin, 401 without token.

    If `free` is given, the application has a page: the page's Origin is allowed, and paths for which `free`
    returns True need no token.
    """
    allowed_hosts = frozenset(allowed)
    expected = f"Bearer {token}".encode()

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        status, error = 0, ""
        host = headers.getlist("host")
        if len(host) != 1 or host[0].lower() not in allowed_hosts:
            status, error = (
                403,
                f"the Host is not this server's: use {' or '.join(sorted(allowed_hosts))}",
            )
        elif "origin" in headers and (
            free is None or headers.getlist("origin") != [f"http://{host[0].lower()}"]
        ):
            status, error = 403, "requests with an Origin are refused: this is not for web pages"
        elif free is not None and free(scope["path"]):
            pass
        elif not secrets.compare_digest(headers.get("authorization", "").encode(), expected):
            status, error = 401, "send the header Authorization: Bearer TOKEN, see the ready line"
        if not status:
            await app(scope, receive, send)
            return
        challenge = {"WWW-Authenticate": "Bearer"} if status == 401 else None
        response = JSONResponse({"error": error}, status, challenge)
        await response(scope, receive, send)

    return guarded
