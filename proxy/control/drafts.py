"""The endpoints that help to write a scenario. Nothing is applied, so they work for a capture, too."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.values.value import Values
from barnabas.proxy.control.bodies import json_response, read_text
from barnabas.proxy.control.history import History
from barnabas.proxy.control.request_models import DraftRequest, read_body
from barnabas.proxy.dry_run import LIMITS, dry_run
from barnabas.proxy.faults import Fault
from barnabas.proxy.matching.past_message import past_message
from barnabas.proxy.scenario.completion import completion
from barnabas.proxy.scenario.draft import Undraftable, draft, free_name
from barnabas.proxy.scenario.file import Scenario, examine
from barnabas.proxy.scenario.lint.notes import advice, remarks
from barnabas.proxy.scenario.yaml_lines import dump, flow, plain, read

MOST: Final = 1000
"""The most exchanges that a scenario is tried on."""

ScenarioAndFaults = tuple[Scenario | None, tuple[Fault, ...]]
"""The scenario in force, and the faults that scenarios may name."""


@dataclass(frozen=True, slots=True)
class Drafts:
    """The endpoints for drafts.

    `topics` are names by id; `holds` returns the scenario in force and the faults; `reading` returns how
    rules decode keys and values of records.
    """

    history: History
    topics: Mapping[uuid.UUID, str]
    holds: Callable[[], ScenarioAndFaults]
    reading: Callable[[], Values]

    @property
    def routes(self) -> list[Route]:
        """Return the routes of the endpoints."""
        return [
            Route("/scenario/schema", self.schema, methods=["GET"]),
            Route("/scenario/check", self.check, methods=["POST"]),
            Route("/scenario/try", self.try_, methods=["POST"]),
            Route("/scenario/draft", self.draft, methods=["POST"]),
        ]

    async def schema(self, _: Request) -> Response:
        """Return the data for an editor's completion: the keys at each place, their meaning, their values."""
        return json_response(await asyncio.to_thread(completion, self.holds()[1]))

    async def check(self, request: Request) -> Response:
        """Return the problems of a scenario (YAML) by line, or the notes on a valid one.

        The scenario is not applied.
        """
        examined = await self._examined(request)
        if not isinstance(examined, Scenario):
            problems = [{"line": line, "text": text} for line, text in examined]
            return json_response({"problems": problems, "remarks": []})
        notes = await asyncio.to_thread(lambda: [*remarks(examined), *advice(examined)])
        return json_response({"problems": [], "remarks": notes})

    async def try_(self, request: Request) -> Response:
        """Return on which of the `last` exchanges, 1,000 at most, a scenario's rules would have fired.

        The scenario (YAML) is not applied.
        """
        last = request.query_params.get("last", str(MOST))
        if not (last.isascii() and last.isdecimal() and len(last) <= len(str(MOST))):
            raise HTTPException(400, f"last is a number of exchanges, {MOST} at most")
        examined = await self._examined(request)
        if not isinstance(examined, Scenario):
            raise HTTPException(
                422, "; ".join(f"scenario:{line}: {text}" for line, text in examined)
            )
        await self.history.fresh()
        exchanges = self.history.following(self.history.count - 1 - min(int(last), MOST), MOST)
        tried = await asyncio.to_thread(dry_run, examined, exchanges, self.topics, self.reading())
        rows = [each.row() for each in tried]
        return json_response({"exchanges": len(exchanges), "rules": rows, "limits": LIMITS})

    async def draft(self, request: Request) -> Response:
        """Return a rule (YAML) for messages like that of an exchange, and the parts that its match can have.

        The body is JSON: `exchange`, `do`; optionally `direction`, `fields`, `settings`.
        """
        requested = await read_body(request, DraftRequest)
        exchange = self.history.get(requested.exchange)
        if exchange is None:
            raise HTTPException(404, f"exchange {requested.exchange} is not kept (any more)")
        try:
            return json_response(await asyncio.to_thread(self._drafted, requested, exchange))
        except Undraftable as problem:
            raise HTTPException(422, str(problem)) from None

    def _drafted(self, requested: DraftRequest, exchange: Exchange) -> dict[str, Any]:
        scenario, faults = self.holds()
        settings = None
        if requested.settings:
            document = read(requested.settings)
            if document.broken or document.problems:
                raise Undraftable(f"settings: {document.problems[0][1]}")
            settings = plain(document.value)
        drafted = draft(
            past_message(exchange, requested.direction, topics=self.topics),
            requested.do,
            requested.fields,
            settings,
            body=exchange.row([requested.direction])[requested.direction],
            faults=faults,
        )
        names = () if scenario is None else [rule.name for rule in scenario.rules]
        drafted.rule["name"] = free_name(drafted.rule["name"], names)
        do = drafted.rule["do"]
        return {
            "name": drafted.rule["name"],
            "rule": dump(drafted.rule),
            "scenario": dump({"version": 1, "rules": [drafted.rule]}),
            "settings": "" if isinstance(do, str) else flow(do[requested.do]),
            "parts": [part._asdict() for part in drafted.parts],
        }

    async def _examined(self, request: Request) -> Scenario | list[tuple[int, str]]:
        text = await read_text(request)
        return await asyncio.to_thread(examine, text, self.holds()[1])
