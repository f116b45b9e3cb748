"""The endpoints of breakpoints: which messages wait, and what becomes of one."""

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
from barnabas.proxy.connection.breakpoints import Waiting
from barnabas.proxy.control.bodies import json_response, read_text
from barnabas.proxy.control.decisions import as_scenario, wanted
from barnabas.proxy.control.message_body import shown
from barnabas.proxy.control.target import Refused, Target
from barnabas.proxy.control.views import text
from barnabas.proxy.network.clock import clock
from barnabas.proxy.scenario.errors import ScenarioError
from barnabas.specs.registry import name_of

_MS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Breakpoints:
    """The endpoints. clock: ns since the epoch."""

    target: Target
    clock: Callable[[], int] = clock

    @property
    def routes(self) -> list[Route]:
        """Where they are."""
        return [
            Route("/breakpoints", self.list, methods=["GET"]),
            Route("/breakpoints/{id}", self.show, methods=["GET"]),
            Route("/breakpoints/{id}", self.decide, methods=["POST"]),
        ]

    async def list(self, _: Request) -> Response:
        """The messages that wait, the oldest first: the 1000 that wait longest."""
        now = self.clock()
        return json_response([row(found, now) for found in await self.target.waiting()])

    async def show(self, request: Request) -> Response:
        """One of them, with its body."""
        found = await self._message(request)
        masking = self.target.options.masking
        return json_response(await asyncio.to_thread(detail, found, self.clock(), masking))

    async def decide(self, request: Request) -> Response:
        """What becomes of one, as a rule's `do` says it (YAML); nothing: it is let go."""
        found = await self._message(request)
        said = await read_text(request)
        before = text(self.target.scenario)
        try:
            do = await asyncio.to_thread(wanted, said)
            scenario = ""
            if do is not None:
                scenario = await asyncio.to_thread(as_scenario, do, found, before)
        except ScenarioError as problem:
            raise HTTPException(422, f"{'; '.join(problem.problems)}; it still waits") from None
        try:
            what = await self.target.decide(found.id, scenario)
        except LookupError:
            raise _gone(found.id) from None
        except Refused as problem:
            raise HTTPException(409, f"{problem}; it still waits") from None
        return json_response({"id": found.id, "what": what, "scenario": scenario or None})

    async def _message(self, request: Request) -> Waiting:
        number = request.path_params["id"]
        try:
            return await self.target.message(number)
        except LookupError:
            raise _gone(number) from None


def row(found: Waiting, now: int) -> dict[str, Any]:
    """One that waits, and for how long: ms until now, until it leaves by itself, and until its client
    gives up, as far as the request says that."""
    timeout = None
    if found.timeout is not None:
        name, ms = found.timeout
        timeout = {"field": name, "ms": ms, "left_ms": ms - (now - found.asked) / _MS}
    return {
        "id": found.id,
        "rule": found.rule,
        "connection": found.connection,
        "client_address": found.client,
        "client_id": found.client_id,
        "broker": found.broker,
        "direction": found.direction,
        "api": name_of(found.key) or f"key {found.key}",
        "key": found.key,
        "version": found.version,
        "correlation_id": found.correlation_id,
        "size": found.size,
        "since": iso(found.since),
        "waited_ms": (now - found.since) / _MS,
        "left_ms": (found.until - now) / _MS,
        "client_timeout": timeout,
    }


def detail(found: Waiting, now: int, masking: Masking) -> dict[str, Any]:
    """The same with its body."""
    return {**row(found, now), **shown(found, masking)}


def _gone(id: str) -> HTTPException:
    short = shorten(id, 40)
    return HTTPException(
        404, f"no message {short} waits (any longer): GET {PREFIX}/breakpoints lists them"
    )
