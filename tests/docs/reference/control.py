"""The page of the control API: its requests, from the routes that serve them."""

from __future__ import annotations

from typing import Any

from starlette.routing import Route

from barnabas.proxy.control.api import application
from tests.docs.reference.markdown import block, code, page, prose, table


def control() -> str:
    """The page."""
    unused: Any = None  # routes do not depend on the proxy
    rows = (
        (
            code(f"{min((route.methods or set()) - {'HEAD'})} {route.path.replace(':path', '')}"),
            prose(route.endpoint.__doc__),
        )
        for route in application(unused, unused, unused, unused, unused).routes
        if isinstance(route, Route)
    )
    return page(
        "Control API",
        "`barnabas proxy --control HOST:PORT` serves it, on loopback only; [Steer a running proxy]"
        "(../howto/control.md) shows the commands. Every request needs the token, as "
        "`Authorization: Bearer TOKEN`. Bodies of requests are YAML, answers JSON; an error is "
        '`{"error": "..."}` with a status of 4xx.',
        block('curl -H "Authorization: Bearer $(cat token)" http://127.0.0.1:9999/status', "sh"),
        table(("request", "what it does"), rows),
        "A request that names another host in `Host`, or has any `Origin`, is refused: no "
        "web page gets at it. "
        "`GET /exchanges/stream` sends server-sent events. `GET /metrics` has a HELP line "
        "for each metric.",
    )
