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

from barnabas.captures.kafka.columns import iso
from barnabas.captures.kafka.exchange import body_version
from barnabas.captures.kafka.wording import shorten
from barnabas.captures.writing.masking import Masking
from barnabas.proxy.connection.breakpoints import Waiting
from barnabas.proxy.control.bodies import json_response, read_text
from barnabas.proxy.control.decisions import as_scenario, wanted
from barnabas.proxy.control.target import Refused, Target
from barnabas.proxy.control.views import text
from barnabas.proxy.network.clock import clock
from barnabas.proxy.scenario.errors import ScenarioError
from barnabas.specs import NAMES, api
from barnabas.specs.jsonform import to_json
from barnabas.specs.malformed import Malformed

SHOWN: Final = 1 << 20
"""Bytes of a body that are shown; a longer one can be decided on all the same."""

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
        """The messages that wait, the oldest first."""
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
            raise HTTPException(422, "; ".join(problem.problems)) from None
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
        "api": NAMES.get(found.key, f"key {found.key}"),
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
    """The same with its body, as fields and in hex: null, and why, if it is long or can't be read.

    masked: something in it is hidden, so that the bytes are not those that wait.
    """
    body = masking.body(found.body, found.direction, found.key, found.version).data
    values, problem = None, ""
    if len(body) > SHOWN:
        problem = f"it has {len(body):,} bytes, more than are shown"
    else:
        try:
            version = body_version(found.key, found.version, found.direction, body)
            codec = api(found.key).message(found.direction).codec(version)
            values = to_json(codec.decode(body))
        except (LookupError, Malformed) as why:
            problem = shorten(str(why), 200)
    return {
        **row(found, now),
        "body": values,
        "problem": problem,
        "hex": None if len(body) > SHOWN else body.hex(),
        "masked": body != found.body,
    }


def _gone(id: str) -> HTTPException:
    shown = shorten(id, 40)
    return HTTPException(404, f"no message {shown} waits (any longer): GET /breakpoints lists them")
