"""The endpoints about the rules of a running proxy."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from barnabas.proxy.control import views
from barnabas.proxy.control.bodies import json_response, read_text
from barnabas.proxy.control.scenario_edits import with_rule, without_rule
from barnabas.proxy.control.target import Refused, Target
from barnabas.proxy.scenario.file import Scenario, ScenarioError, loads

BY: Final = "the control port"


@dataclass(frozen=True, slots=True)
class Rules:
    """The endpoints about the rules in force."""

    target: Target
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    """Serializes edits: it takes a while until all workers have the rules."""

    @property
    def routes(self) -> list[Route]:
        """Return the routes of the endpoints."""
        rule = "/scenario/rules/{name:path}"
        return [
            Route("/scenario", self.scenario, methods=["GET"]),
            Route("/scenario", self.set_scenario, methods=["PUT"]),
            Route("/scenario/rules", self.add_rule, methods=["POST"]),
            Route(rule, self.remove_rule, methods=["DELETE"]),
            Route(f"{rule}/fire", self.fire_rule, methods=["POST"]),
            Route(f"{rule}/release", self.release_rule, methods=["POST"]),
        ]

    async def scenario(self, _: Request) -> Response:
        """Return the scenario's text, and what its rules have done."""
        return await self._scenario()

    async def _scenario(self) -> Response:
        report = await self.target.report()
        return json_response(views.scenario(self.target.scenario, report))

    async def set_scenario(self, request: Request) -> Response:
        """Replace the scenario (YAML), for all connections at once."""
        text = await read_text(request)
        return await self._edit(lambda _: text)

    async def add_rule(self, request: Request) -> Response:
        """Add a rule (YAML) after the others."""
        rule = await read_text(request)
        return await self._edit(lambda text: with_rule(text, rule, self.target.options.faults))

    async def remove_rule(self, request: Request) -> Response:
        """Remove a rule; messages that it holds leave."""
        name = request.path_params["name"]
        try:
            return await self._edit(lambda text: without_rule(text, name))
        except LookupError:
            raise self._no_rule(name) from None

    async def fire_rule(self, request: Request) -> Response:
        """Let a rule fire on its next match, whatever `when` says."""
        return await self._tell(request, self.target.fire)

    async def release_rule(self, request: Request) -> Response:
        """Release the messages that a rule holds, whatever they wait for."""
        return await self._tell(request, self.target.release)

    async def _tell(self, request: Request, command: Callable[[str], Awaitable[None]]) -> Response:
        name = request.path_params["name"]
        try:
            await command(name)
            report = await self.target.report()
            rules = {rule.name: rule for rule in report.rules}
            return json_response({**views.rule(rules[name]), "missing_workers": report.missing})
        except LookupError:  # also if the rule was removed meanwhile
            raise self._no_rule(name) from None

    async def _edit(self, edit: Callable[[str], str]) -> Response:
        """Replace the scenario by an edited text; an invalid one changes nothing.

        The edit runs in a thread, since YAML is slow, and starts again if the scenario changed meanwhile.
        """

        def edited(text: str) -> Scenario:
            return loads(edit(text), faults=self.target.options.faults)

        async with self._turn:
            while True:
                before = self.target.scenario
                try:
                    scenario = await asyncio.to_thread(edited, views.text(before))
                except ScenarioError as problem:
                    raise HTTPException(422, "; ".join(problem.problems)) from None
                if self.target.scenario is before:
                    break
            try:
                await self.target.replace(scenario, BY)
            except Refused as problem:
                raise HTTPException(409, str(problem)) from None
        return await self._scenario()

    def _no_rule(self, name: str) -> HTTPException:
        rules = () if self.target.scenario is None else self.target.scenario.rules
        names = ", ".join(repr(rule.name) for rule in rules) or "none"
        return HTTPException(404, f"no rule is called {name!r}; the rules are: {names}")
