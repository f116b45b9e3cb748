"""The requests that begin and end tests; all others go to the application of their test."""

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
from barnabas.testing.server.proxied_test import ProxiedTest
from barnabas.testing.server.requests import Requests
from barnabas.testing.server.roster import Refused, Roster

BUSY: Final = 503


def routes(roster: Roster) -> list[BaseRoute]:
    """Return the routes of all requests."""
    api = Tests(roster)
    return [
        Route("/tests", api.tests, methods=["GET"]),
        Route("/tests", api.begin, methods=["POST"]),
        Route("/tests/{test}", api.test, methods=["GET"]),
        Route("/tests/{test}", api.end, methods=["DELETE"]),
        Mount("/tests/{test}", app=TestApplication(roster)),
    ]


@dataclass(frozen=True, slots=True)
class Tests:
    """The requests that list, begin and end tests."""

    roster: Roster

    async def tests(self, _: Request) -> Response:
        """Return the running tests, and those that have ended and are still held."""
        return json_response([test.view() for test in self.roster.tests.values()])

    async def begin(self, request: Request) -> Response:
        """Start a test with its own proxy at `bootstrap`.

        The body is JSON: `name`, `scenario` (YAML, an object, or the name of a ready scenario), `capture`
        (default true).
        """
        body = await read_body(request, NewTest)
        try:
            scenario = await asyncio.to_thread(_scenario, body.scenario)
        except ScenarioError as problem:
            raise HTTPException(422, "; ".join(problem.problems)) from None
        try:
            test = await self.roster.begin(body.name, scenario, body.capture)
        except Refused as problem:
            raise HTTPException(BUSY, str(problem)) from None
        except OSError as problem:
            raise HTTPException(BUSY, f"no proxy can be started: {problem.strerror}") from None
        requests, history = Requests(test, self.roster.assertion_lock), test.history
        topics = history.context.topics
        test.router = Router(routes_of(requests, LocalTarget(test.proxy), history, topics))
        return json_response(test.view(), 201)

    async def test(self, request: Request) -> Response:
        """Return a test; after its end, with its results."""
        test = test_of(self.roster, request.path_params)
        with test.in_use():
            return json_response(test.view())

    async def end(self, request: Request) -> Response:
        """Close the proxy of a test and return the test.

        `ended` has its totals, the counters of its rules and the findings of checks. Requests about the test
        are possible for some time.
        """
        test = test_of(self.roster, request.path_params)
        with test.in_use():
            await test.end("asked to")
            return json_response(test.view())


class TestApplication:
    """An application that passes requests to the application of their test."""

    def __init__(self, roster: Roster) -> None:
        self._roster = roster

    @property
    def routes(self) -> list[Route]:
        """Return the routes of a test, for the documentation of the API."""
        unused: Any = None  # no route depends on it
        return routes_of(Requests(unused, unused), unused, unused, unused)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request about a test."""
        test = test_of(self._roster, scope["path_params"])
        with test.in_use():
            await test.router(scope, receive, send)


def routes_of(
    requests: Requests, target: Target, history: History, topics: Mapping[uuid.UUID, str]
) -> list[Route]:
    """Return the routes for a test and for its proxy."""
    rules = Route("/rules", Rules(target).add_rule, methods=["POST"])
    return [rules, *requests.routes, *of_proxy(target, history, topics)]


def test_of(roster: Roster, parameters: dict[str, Any]) -> ProxiedTest:
    """Return the test that a path names. Raises HTTPException."""
    name = parameters["test"]
    if name not in roster.tests:
        message = f"no test {shorten(name, 40)} is there (any longer)"
        raise HTTPException(404, f"{message}: GET {PREFIX}/tests lists them")
    return roster.tests[name]


def _scenario(source: str | dict[str, Any] | None) -> Scenario | None:
    """Return the scenario in a body. Raises ScenarioError."""
    match source:
        case None:
            return None
        case dict():
            return loads(json.dumps(source, indent=1))
        case str() if is_yaml(source):
            return loads(source)
        case _ if source in names():
            return load(FOLDER / f"{source}.yaml")
    hint = did_you_mean(source, names()) or "; see `barnabas scenario list`"
    raise ScenarioError((f"no ready scenario is called {shorten(source, 60)!r}{hint}",))
