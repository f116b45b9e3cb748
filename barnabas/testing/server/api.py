"""The requests that begin tests and end them; all others about a test go to what answers for it."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route, Router
from starlette.types import Receive, Scope, Send

from barnabas.api_version import PREFIX
from barnabas.captures.kafka.wording import shorten
from barnabas.experiments.library import FOLDER, names
from barnabas.nearest import did_you_mean
from barnabas.proxy.control.api import of_proxy
from barnabas.proxy.control.bodies import json_response
from barnabas.proxy.control.history import History
from barnabas.proxy.control.local_target import LocalTarget
from barnabas.proxy.control.request_models import NewTest, read_body
from barnabas.proxy.control.rules import Rules
from barnabas.proxy.control.target import Target
from barnabas.proxy.scenario.file import Scenario, ScenarioError, load, loads
from barnabas.testing.scenario import is_yaml
from barnabas.testing.server.one_test import OneTest
from barnabas.testing.server.requests import Requests
from barnabas.testing.server.roster import Full, Roster

BUSY: Final = 503


def routes(roster: Roster) -> list[BaseRoute]:
    """All requests."""
    api = Tests(roster)
    return [
        Route("/tests", api.tests, methods=["GET"]),
        Route("/tests", api.begin, methods=["POST"]),
        Route("/tests/{test}", api.test, methods=["GET"]),
        Route("/tests/{test}", api.end, methods=["DELETE"]),
        Mount("/tests/{test}", app=OfTest(roster)),
    ]


@dataclass(frozen=True, slots=True)
class Tests:
    """The endpoints."""

    roster: Roster

    async def tests(self, _: Request) -> Response:
        """Those that run, and those that are over and not forgotten."""
        return json_response([test.view() for test in self.roster.tests.values()])

    async def begin(self, request: Request) -> Response:
        """A test with a proxy of its own at `bootstrap`. The body is JSON: `name`, `scenario` (YAML, or the
        same as JSON, or the name of a ready one), `capture` (true unless said otherwise)."""
        asked = await read_body(request, NewTest)
        try:
            scenario = await asyncio.to_thread(_scenario, asked.scenario)
        except ScenarioError as problem:
            raise HTTPException(422, "; ".join(problem.problems)) from None
        try:
            test = await self.roster.begin(asked.name, scenario, asked.capture)
        except Full as problem:
            raise HTTPException(BUSY, str(problem)) from None
        except OSError as problem:
            raise HTTPException(BUSY, f"no proxy can be started: {problem.strerror}") from None
        requests, history = Requests(test, self.roster.judging), test.history
        topics = history.context.topics
        test.router = Router(routes_of(requests, LocalTarget(test.proxy), history, topics))
        return json_response(test.view(), 201)

    async def test(self, request: Request) -> Response:
        """One; once it is over, with what there is to say of it."""
        test = found(self.roster, request.path_params)
        with test.in_use():
            return json_response(test.view())

    async def end(self, request: Request) -> Response:
        """Close its proxy. What passed, what its rules did and what checks find is in `ended`, and it can be
        asked about for some time yet."""
        test = found(self.roster, request.path_params)
        with test.in_use():
            await test.end("asked to")
            return json_response(test.view())


class OfTest:
    """Hands a request on to what answers for a test."""

    def __init__(self, roster: Roster) -> None:
        self._roster = roster

    @property
    def routes(self) -> list[Route]:
        """Those of each test, for who wants to know what can be asked."""
        unused: Any = None  # no route depends on it
        return routes_of(Requests(unused, unused), unused, unused, unused)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        test = found(self._roster, scope["path_params"])
        with test.in_use():
            await test.router(scope, receive, send)


def routes_of(
    requests: Requests, target: Target, history: History, topics: Mapping[uuid.UUID, str]
) -> list[Route]:
    """The requests about a test, and about its proxy."""
    rules = Route("/rules", Rules(target).add_rule, methods=["POST"])
    return [rules, *requests.routes, *of_proxy(target, history, topics)]


def found(roster: Roster, parameters: dict[str, Any]) -> OneTest:
    """The test that a path names. Raises HTTPException."""
    name = parameters["test"]
    if name not in roster.tests:
        said = f"no test {shorten(name, 40)} is there (any longer)"
        raise HTTPException(404, f"{said}: GET {PREFIX}/tests lists them")
    return roster.tests[name]


def _scenario(given: str | dict[str, Any] | None) -> Scenario | None:
    """The scenario that a body has. Raises ScenarioError."""
    match given:
        case None:
            return None
        case dict():
            return loads(json.dumps(given, indent=1))
        case str() if is_yaml(given):
            return loads(given)
        case _ if given in names():
            return load(FOLDER / f"{given}.yaml")
    hint = did_you_mean(given, names()) or "; see `barnabas scenario list`"
    raise ScenarioError((f"no ready scenario is called {shorten(given, 60)!r}{hint}",))
