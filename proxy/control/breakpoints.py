"""The endpoints of breakpoints: list the waiting messages, and decide about one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from barnabas.api_version import PREFIX
from barnabas.captures.kafka.columns import iso
from barnabas.captures.kafka.wording import shorten
from barnabas.captures.writing.masking import Masking
from barnabas.proxy.connection.breakpoints import HaltedMessage
from barnabas.proxy.control.bodies import json_response, read_text
from barnabas.proxy.control.decisions import as_scenario, parse_decision
from barnabas.proxy.control.message_body import shown
from barnabas.proxy.control.target import Refused, Target
from barnabas.proxy.control.views import text
from barnabas.proxy.network.clock import clock
from barnabas.proxy.scenario.errors import ScenarioError
from barnabas.specs.registry import name_of

_MS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Breakpoints:
    """The endpoints of breakpoints; `clock` returns ns since the epoch."""

    target: Target
    clock: Callable[[], int] = clock

    @property
    def routes(self) -> list[Route]:
        """Return the routes of the endpoints."""
        return [
            Route("/breakpoints", self.list, methods=["GET"]),
            Route("/breakpoints/{id}", self.show, methods=["GET"]),
            Route("/breakpoints/{id}", self.decide, methods=["POST"]),
        ]

    async def list(self, _: Request) -> Response:
        """Return the waiting messages, the oldest first: the 1000 that wait longest."""
        now = self.clock()
        return json_response([row(message, now) for message in await self.target.waiting()])

    async def show(self, request: Request) -> Response:
        """Return a waiting message with its body."""
        message = await self._message(request)
        masking = self.target.options.masking
        return json_response(await asyncio.to_thread(detail, message, self.clock(), masking))

    async def decide(self, request: Request) -> Response:
        """Apply a rule's `do` (YAML) to a waiting message; an empty body lets it leave unchanged."""
        message = await self._message(request)
        body = await read_text(request)
        current = text(self.target.scenario)
        try:
            do = await asyncio.to_thread(parse_decision, body)
            scenario = ""
            if do is not None:
                scenario = await asyncio.to_thread(as_scenario, do, message, current)
        except ScenarioError as problem:
            raise HTTPException(422, f"{'; '.join(problem.problems)}; it still waits") from None
        try:
            effects = await self.target.decide(message.id, scenario)
        except LookupError:
            raise _gone(message.id) from None
        except Refused as problem:
            raise HTTPException(409, f"{problem}; it still waits") from None
        return json_response({"id": message.id, "what": effects, "scenario": scenario or None})

    async def _message(self, request: Request) -> HaltedMessage:
        number = request.path_params["id"]
        try:
            return await self.target.message(number)
        except LookupError:
            raise _gone(number) from None


def row(message: HaltedMessage, now: int) -> dict[str, Any]:
    """Return a waiting message in JSON form, with its times in ms.

    The times are how long it has waited, until it leaves by itself, and until its client gives up, as far as
    the request shows that.
    """
    timeout = None
    if message.timeout is not None:
        name, ms = message.timeout
        timeout = {"field": name, "ms": ms, "left_ms": ms - (now - message.request_arrived) / _MS}
    return {
        "id": message.id,
        "rule": message.rule,
        "connection": message.connection,
        "client_address": message.client,
        "client_id": message.client_id,
        "broker": message.broker,
        "direction": message.direction,
        "api": name_of(message.key) or f"key {message.key}",
        "key": message.key,
        "version": message.version,
        "correlation_id": message.correlation_id,
        "size": message.size,
        "since": iso(message.since),
        "waited_ms": (now - message.since) / _MS,
        "left_ms": (message.until - now) / _MS,
        "client_timeout": timeout,
    }


def detail(message: HaltedMessage, now: int, masking: Masking) -> dict[str, Any]:
    """Return a waiting message in JSON form, with its body."""
    return {**row(message, now), **shown(message, masking)}


def _gone(id: str) -> HTTPException:
    short = shorten(id, 40)
    return HTTPException(
        404, f"no message {short} is waiting (any more): GET {PREFIX}/breakpoints lists them"
    )
