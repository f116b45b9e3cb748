"""The page's sequence: which messages were at the proxy in a window of time."""

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
from barnabas.proxy.control.bodies import json_response
from barnabas.proxy.control.history import History
from barnabas.proxy.network.clock import clock

DIGITS: Final = 19
"""Of ns since the epoch, for the next 200 years."""


@dataclass(frozen=True, slots=True)
class Sequence:
    """The endpoint. clock: ns since the epoch."""

    history: History
    clock: Callable[[], int] = clock

    @property
    def routes(self) -> list[Route]:
        """Which request it answers."""
        return [Route("/sequence", self.sequence)]

    async def sequence(self, request: Request) -> Response:
        """Messages from `from` to before `to` (ns since the epoch), of a `connection` or all, also of
        exchanges that are not over: see `barnabas.captures.summary.sequence`."""
        begin, end, connection = (_number(request, name) for name in ("from", "to", "connection"))
        kept, now = self.history.kept(), self.clock()

        def found() -> Response:
            several = chain(kept, numbered(self.history.under_way(), now))
            return json_response(sequence(several, begin, end, connection))

        return await asyncio.to_thread(found)


def _number(request: Request, name: str) -> int | None:
    text = request.query_params.get(name)
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= DIGITS):
        raise HTTPException(400, f"{name}: give a number")
    return int(text)
