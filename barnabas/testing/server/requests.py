"""The requests about one test, in addition to those about its proxy."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from barnabas.captures.checks import CHECKS
from barnabas.captures.checks.runner import CheckFailed
from barnabas.captures.kafka.exchange import Exchange
from barnabas.nearest import did_you_mean
from barnabas.plural import plural
from barnabas.proxy.control import views
from barnabas.proxy.control.api import count_of, listed
from barnabas.proxy.control.bodies import filter_of, json_response, json_text_response
from barnabas.proxy.control.request_models import Assertions, WaitFor, read_body
from barnabas.proxy.network.report import report
from barnabas.specs.json_text import compact
from barnabas.testing.batches import Unreadable
from barnabas.testing.scenario import rule_line
from barnabas.testing.server.assertions import NOTHING, evaluate
from barnabas.testing.server.proxied_test import EndedTooEarly, ExchangesDropped, ProxiedTest
from barnabas.testing.timeout_message import SHOWN, timeout_message, traffic_lines

IN_VAIN: Final = 408

SAID: Final = 5
"""The most lines of the proxy in a report."""

PCAP: Final = "application/vnd.tcpdump.pcap"


@dataclass(frozen=True, slots=True)
class Requests:
    """The requests about a test.

    assertion_lock: Held while assertions on all exchanges are evaluated, which takes memory.
    """

    test: ProxiedTest
    assertion_lock: asyncio.Lock

    @property
    def routes(self) -> list[Route]:
        """Return the routes of the requests."""
        return [
            Route("/wait_for", self.wait_for, methods=["POST"]),
            Route("/assert", self.assert_, methods=["POST"]),
            Route("/report", self.report, methods=["GET"]),
            Route("/capture", self.capture, methods=["GET"]),
        ]

    async def wait_for(self, request: Request) -> Response:
        """Wait until `count` exchanges pass `filter`, without the first `since` of the test; return them.

        After `timeout_ms` the status is 408, and the response has the exchanges so far and an error message.
        """
        body = await read_body(request, WaitFor)
        passes = filter_of(body.filter, self.test.history.context.topics)
        within = body.timeout_ms / 1000
        self._check_since(body.since)
        try:
            matching = await self.test.wait_for(passes, body.count, within, body.since)
            if len(matching) == body.count:
                return await self._found(matching, {})
            expected = (
                f"{body.count} with filter={body.filter!r}" if body.filter else f"{body.count}"
            )
        except ExchangesDropped as problem:
            raise HTTPException(409, str(problem)) from None
        except EndedTooEarly:
            message = f"test {self.test.id} has ended, and nothing more will pass"
            raise HTTPException(410, message) from None
        last = await asyncio.to_thread(self.test.last, SHOWN, body.since)
        total = self.test.history.count - body.since
        connections = report(self.test.proxy).connections
        error = timeout_message(expected, len(matching), within, total, last, connections)
        return await self._found(matching, {"error": error}, IN_VAIN)

    async def _found(
        self, matching: Sequence[Exchange], more: dict[str, Any], status: int = 200
    ) -> Response:
        rows = await listed(reversed(matching), len(matching), self.test.history.context)
        head = compact({**more, "count": len(matching)})
        return json_text_response(f'{head[:-1]},"exchanges":{rows}}}', status)

    def _check_since(self, since: int) -> None:
        count = self.test.history.count
        if since > count:
            raise HTTPException(
                400, f"since: {since}, but the test has {plural(count, 'exchange')}"
            )

    async def assert_(self, request: Request) -> Response:
        """Evaluate assertions on all exchanges so far; `broken` describes those that do not hold."""
        assertions = await read_body(request, Assertions)
        if not assertions.model_fields_set - {"since"}:
            raise HTTPException(400, NOTHING)
        self._check_since(assertions.since)
        names = [check.name for check in CHECKS]
        for name in assertions.findings or ():
            if name not in names:
                message = f"findings: there is no check {name!r}{did_you_mean(name, names)}"
                raise HTTPException(400, message)
        async with self.assertion_lock:
            try:
                return json_response(await asyncio.to_thread(self._judged, assertions))
            except (ExchangesDropped, Unreadable, CheckFailed) as problem:
                raise HTTPException(409, str(problem)) from None

    def _judged(self, assertions: Assertions) -> dict[str, Any]:
        since = assertions.since
        findings = [] if assertions.findings is None else self.test.findings(since=since)[0]
        return evaluate(assertions, self.test.exchanges(since), findings)

    async def report(self, request: Request) -> Response:
        """Return text for the report of a failed test.

        It has the last exchanges without the first `since`, the rules' counters, and the findings of checks.
        """
        test, since = self.test, count_of(request, "since", 0)
        self._check_since(since)
        last = await asyncio.to_thread(test.last_lines, SHOWN, since)
        now = report(test.proxy)
        lines = traffic_lines(test.history.count - since, last, now.connections)
        lines += [f"rule {rule_line(views.rule(each))}" for each in now.rules]
        lines += [f"proxy: {each}" for each in list(test.lines)[-SAID:]]
        try:
            findings, _ = await asyncio.to_thread(test.findings, since=since)
        except CheckFailed as problem:
            lines.append(str(problem))
        else:
            lines += [f"finding {row['check']}: {row['what']}" for row in findings[:SHOWN]]
        return PlainTextResponse("\n".join(lines) + "\n")

    async def capture(self, _: Request) -> Response:
        """Return the test's capture (pcapng); while the test runs, as far as it is written."""
        test = self.test
        if test.capture is None:
            raise HTTPException(404, f"test {test.id} has no capture: it began without one")
        if not await asyncio.to_thread(test.capture.is_file):
            raise HTTPException(404, f"the capture of test {test.id} is gone")
        if test.ended is None:  # it grows
            written = await asyncio.to_thread(test.capture.read_bytes)
            return Response(written, media_type=PCAP)
        return FileResponse(test.capture, media_type=PCAP, filename=test.capture.name)
