"""Who may use the API: programs, which need no token; no web page.

A page in a browser can send requests to loopback, and a name that its owner has resolved to 127.0.0.1 makes
them its own (DNS rebinding). Such requests have an Origin, or that name in Host; an address in Host, or a
name without a dot, can't be somebody's in the internet.
"""

from __future__ import annotations

import ipaddress

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send


def guard(app: ASGIApp, *, any_host: bool) -> ASGIApp:
    """The application behind the checks: 403 for an Origin, or for a foreign Host unless any may be."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if "origin" in headers:
            why = "requests with an Origin are refused: this is not for web pages\n"
        elif not any_host and not (len(hosts) == 1 and near(hosts[0])):
            why = "the Host may be a name in the internet: use localhost, or an address\n"
        else:
            await app(scope, receive, send)
            return
        await PlainTextResponse(why, 403)(scope, receive, send)

    return guarded


def near(host: str) -> bool:
    """Whether a Host can't be a name in the internet.

    >>> [near(host) for host in ("localhost:8474", "toxiproxy:8474", "[::1]:8474", "10.0.0.1", "a.example")]
    [True, True, True, True, False]
    """
    name = host.rpartition(":")[0] if ":" in host and not host.endswith("]") else host
    name = name.strip("[]").rstrip(".").lower()
    if "." not in name and ":" not in name:
        return bool(name)
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name.endswith(".localhost")
    return True
