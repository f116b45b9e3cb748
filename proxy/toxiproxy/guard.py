"""Protects the API: programs may use it without a token, web pages may not.

A page in a browser can send requests to loopback. A name whose owner resolves it to 127.0.0.1 makes them
same-origin (DNS rebinding). Such requests have an Origin, or that name in Host. An address in Host, or a name
without a dot, cannot be somebody's name in the internet.
"""

from __future__ import annotations

import ipaddress

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send


def guard(app: ASGIApp, *, any_host: bool) -> ASGIApp:
    """Return the application with its checks: 403 for an Origin, or for a foreign Host.

    With `any_host` every Host is allowed.
    """

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if "origin" in headers:
            reason = "requests with an Origin are refused: this is not for web pages\n"
        elif not any_host and not (len(hosts) == 1 and near(hosts[0])):
            reason = "the Host may be a name in the internet: use localhost, or an address\n"
        else:
            await app(scope, receive, send)
            return
        await PlainTextResponse(reason, 403)(scope, receive, send)

    return guarded


def near(host: str) -> bool:
    """Return whether a Host can't be a name in the internet.

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
