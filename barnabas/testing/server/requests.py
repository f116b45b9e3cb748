"""The requests about one test, beside those about its proxy."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from barnabas.captures.checks import CHECKS
from barnabas.captures.checks.runner import CheckFailed
from barnabas.captures.kafka.exchange import Exchange
from barnabas.nearest import did_you_mean
from barnabas.proxy.control.api import listed
from barnabas.proxy.control.bodies import filter_of, json_response, json_text_response
from barnabas.proxy.control.request_models import Assertions, WaitFor, read_body
from barnabas.proxy.network.report import report
from barnabas.specs.json_text import compact
from barnabas.testing.batches import Unreadable
from barnabas.testing.not_seen import SHOWN, not_seen
from barnabas.testing.server.judging import NOTHING, judge
from barnabas.testing.server.one_test import FellOut, OneTest, Over

IN_VAIN: Final = 408


@dataclass(frozen=True, slots=True)
class Requests:
    """The endpoints. judging: held while something is asserted of all that passed: it takes memory."""

    test: OneTest
    judging: asyncio.Lock

    @property
    def routes(self) -> list[Route]:
        """Which request each one answers."""
        return [
            Route("/wait_for", self.wait_for, methods=["POST"]),
            Route("/assert", self.assert_, methods=["POST"]),
            Route("/capture", self.capture, methods=["GET"]),
        ]

    async def wait_for(self, request: Request) -> Response:
        """Answers when `count` exchanges that pass `filter` have passed since the test began, and with them;
        with 408, those that did and a text for people, if that takes longer than `timeout_ms`."""
        asked = await read_body(request, WaitFor)
        passes = filter_of(asked.filter, self.test.history.context.topics)
        within = asked.timeout_ms / 1000
        try:
            found = await self.test.wait_for(passes, asked.count, within)
            if len(found) == asked.count:
                return await self._found(found, {})
            what = (
                f"{asked.count} with filter={asked.filter!r}" if asked.filter else f"{asked.count}"
            )
        except FellOut as problem:
            raise HTTPException(409, str(problem)) from None
        except Over:
            said = f"test {self.test.id} has ended, and nothing more will pass"
            raise HTTPException(410, said) from None
        last = await asyncio.to_thread(self.test.last, SHOWN)
        total, connections = self.test.history.count, report(self.test.proxy).connections
        error = not_seen(what, len(found), within, total, last, connections)
        return await self._found(found, {"error": error}, IN_VAIN)

    async def _found(
        self, found: Sequence[Exchange], more: dict[str, Any], status: int = 200
    ) -> Response:
        rows = await listed(reversed(found), len(found), self.test.history.context)
        head = compact({**more, "count": len(found)})
        return json_text_response(f'{head[:-1]},"exchanges":{rows}}}', status)

    async def assert_(self, request: Request) -> Response:
        """Whether what is named holds of all that has passed so far; `broken` says in words what does not."""
        asked = await read_body(request, Assertions)
        if not asked.model_fields_set:
            raise HTTPException(400, NOTHING)
        names = [check.name for check in CHECKS]
        for name in asked.findings or ():
            if name not in names:
                said = f"findings: there is no check {name!r}{did_you_mean(name, names)}"
                raise HTTPException(400, said)
        async with self.judging:
            try:
                return json_response(await asyncio.to_thread(self._judged, asked))
            except (FellOut, Unreadable, CheckFailed) as problem:
                raise HTTPException(409, str(problem)) from None

    def _judged(self, asked: Assertions) -> dict[str, Any]:
        findings = [] if asked.findings is None else self.test.findings()[0]
        return judge(asked, self.test.exchanges(), findings)

    async def capture(self, _: Request) -> Response:
        """Its capture (pcapng), once it has ended."""
        test = self.test
        if test.capture is None:
            raise HTTPException(404, f"test {test.id} has no capture: it began without one")
        if test.ended is None:
            raise HTTPException(
                409, f"test {test.id} still runs: its capture is whole when it ends"
            )
        if not await asyncio.to_thread(test.capture.is_file):
            raise HTTPException(404, f"the capture of test {test.id} is gone")
        return FileResponse(
            test.capture, media_type="application/vnd.tcpdump.pcap", filename=test.capture.name
        )
