"""The page's sequence diagram: the messages at the proxy in a window of time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from barnabas.captures.summary.sequence import numbered, sequence
from barnabas.captures.summary.sequence_selection import Selection
from barnabas.proxy.control.bodies import json_response
from barnabas.proxy.control.history import History
from barnabas.proxy.network.clock import clock

DIGITS: Final = 19
"""The most digits of ns since the epoch, for the next 200 years."""


@dataclass(frozen=True, slots=True)
class Sequence:
    """The request for a sequence diagram. clock: Returns ns since the epoch."""

    history: History
    clock: Callable[[], int] = clock

    @property
    def routes(self) -> list[Route]:
        """Return the route of the request."""
        return [Route("/sequence", self.sequence)]

    async def sequence(self, request: Request) -> Response:
        """Return the messages from `from` until before `to` (ns since the epoch).

        They are from one `connection`, `client` (client id, or the address without one) or `group`, or from
        all, and include messages of unfinished exchanges.
        """
        begin, end, connection = (_number(request, name) for name in ("from", "to", "connection"))
        client, group = (request.query_params.get(name) or None for name in ("client", "group"))
        selection = Selection(connection, client, group)
        held, now = self.history.kept(), self.clock()

        def respond() -> Response:
            numbered_exchanges = chain(held, numbered(self.history.under_way(), now))
            return json_response(sequence(numbered_exchanges, begin, end, selection))

        return await asyncio.to_thread(respond)


def _number(request: Request, name: str) -> int | None:
    text = request.query_params.get(name)
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= DIGITS):
        raise HTTPException(400, f"{name}: give a number")
    return int(text)
