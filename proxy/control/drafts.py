"""The requests that help to write a scenario. Nothing is applied: they do for a capture, too."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import yaml
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.values.value import Values
from barnabas.proxy.control.asked import Wanted, read_asked
from barnabas.proxy.control.bodies import json_response, read_text
from barnabas.proxy.control.history import History
from barnabas.proxy.dry_run import LIMITS, dry_run
from barnabas.proxy.faults import Fault
from barnabas.proxy.matching.passed import passed
from barnabas.proxy.scenario.completion import completion
from barnabas.proxy.scenario.draft import Undraftable, draft, free_name
from barnabas.proxy.scenario.file import Scenario, examine
from barnabas.proxy.scenario.lint.notes import advice, remarks
from barnabas.proxy.scenario.yaml_lines import dump, plain, read

MOST: Final = 1000
"""Exchanges that a scenario is tried on at most."""

Found = tuple[Scenario | None, tuple[Fault, ...]]
"""The scenario that holds, and the faults that one may name."""


@dataclass(frozen=True, slots=True)
class Drafts:
    """The endpoints. topics: names by id. reading: how rules read keys and values of records."""

    history: History
    topics: Mapping[uuid.UUID, str]
    holds: Callable[[], Found]
    reading: Callable[[], Values]

    @property
    def routes(self) -> list[Route]:
        """Which request each one answers."""
        return [
            Route("/scenario/schema", self.schema, methods=["GET"]),
            Route("/scenario/check", self.check, methods=["POST"]),
            Route("/scenario/try", self.try_, methods=["POST"]),
            Route("/scenario/draft", self.draft, methods=["POST"]),
        ]

    async def schema(self, _: Request) -> Response:
        """What an editor completes from: the keys at each place, what they are, values that they take."""
        return json_response(await asyncio.to_thread(completion, self.holds()[1]))

    async def check(self, request: Request) -> Response:
        """What is wrong with a scenario (YAML), by line, or what is to be said of one that is right; it is
        not applied."""
        found = await self._examined(request)
        if not isinstance(found, Scenario):
            problems = [{"line": line, "text": text} for line, text in found]
            return json_response({"problems": problems, "remarks": []})
        said = await asyncio.to_thread(lambda: [*remarks(found), *advice(found)])
        return json_response({"problems": [], "remarks": said})

    async def try_(self, request: Request) -> Response:
        """On which of the `last` exchanges, 1,000 at most, the rules of a scenario (YAML) would have fired;
        it is not applied."""
        last = request.query_params.get("last", str(MOST))
        if not (last.isascii() and last.isdecimal() and len(last) <= len(str(MOST))):
            raise HTTPException(400, f"last is a number of exchanges, {MOST} at most")
        found = await self._examined(request)
        if not isinstance(found, Scenario):
            raise HTTPException(422, "; ".join(f"scenario:{line}: {text}" for line, text in found))
        await self.history.fresh()
        some = self.history.behind(self.history.count - 1 - min(int(last), MOST), MOST)
        tried = await asyncio.to_thread(dry_run, found, some, self.topics, self.reading())
        rows = [each.row() for each in tried]
        return json_response({"exchanges": len(some), "rules": rows, "limits": LIMITS})

    async def draft(self, request: Request) -> Response:
        """A rule (YAML) that does something to messages like that of an exchange, and the parts that its
        match can have. The body is JSON: `exchange`, `do`; if wanted `direction`, `fields`, `settings`."""
        wanted = await read_asked(request, Wanted)
        exchange = self.history.get(wanted.exchange)
        if exchange is None:
            raise HTTPException(404, f"exchange {wanted.exchange} is not held (any longer)")
        try:
            return json_response(await asyncio.to_thread(self._drafted, wanted, exchange))
        except Undraftable as problem:
            raise HTTPException(422, str(problem)) from None

    def _drafted(self, wanted: Wanted, exchange: Exchange) -> dict[str, Any]:
        scenario, faults = self.holds()
        settings = None
        if wanted.settings:
            given = read(wanted.settings)
            if given.broken or given.problems:
                raise Undraftable(f"settings: {given.problems[0][1]}")
            settings = plain(given.value)
        found = draft(
            passed(exchange, wanted.direction, topics=self.topics),
            wanted.do,
            wanted.fields,
            settings,
            body=exchange.row([wanted.direction])[wanted.direction],
            faults=faults,
        )
        taken = () if scenario is None else [rule.name for rule in scenario.rules]
        found.rule["name"] = free_name(found.rule["name"], taken)
        do = found.rule["do"]
        return {
            "name": found.rule["name"],
            "rule": dump(found.rule),
            "scenario": dump({"version": 1, "rules": [found.rule]}),
            "settings": "" if isinstance(do, str) else _flow(do[wanted.do]),
            "parts": [part._asdict() for part in found.parts],
        }

    async def _examined(self, request: Request) -> Scenario | list[tuple[int, str]]:
        text = await read_text(request)
        return await asyncio.to_thread(examine, text, self.holds()[1])


def _flow(value: Any) -> str:
    """YAML on one line.

    >>> _flow("200ms"), _flow({"set": {"throttle_time_ms": 5}})
    ('200ms', '{set: {throttle_time_ms: 5}}')
    """
    text: str = yaml.safe_dump(value, default_flow_style=True, width=1 << 20, allow_unicode=True)
    return text.removesuffix("...\n").strip()
