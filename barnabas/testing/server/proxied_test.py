"""A test of the server: its proxy, its exchanges, and its result."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

from starlette.types import ASGIApp

from barnabas.captures.checks import CHECKS, Check
from barnabas.captures.checks.runner import CheckFailed, run
from barnabas.captures.host_port import endpoint_text
from barnabas.captures.kafka.columns import iso
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.filters import Filter
from barnabas.captures.kafka.json_line import json_line
from barnabas.captures.kafka.log_line import details
from barnabas.captures.writing.writer import CaptureWriter
from barnabas.plural import plural
from barnabas.proxy.control import views
from barnabas.proxy.control.history import History
from barnabas.proxy.network.clock import clock
from barnabas.proxy.network.options import Options
from barnabas.proxy.network.report import report
from barnabas.proxy.network.server import Proxy
from barnabas.proxy.network.surroundings import Outputs
from barnabas.proxy.rules.rules import Rules
from barnabas.proxy.scenario.model import Scenario
from barnabas.testing import exchange as seen

KEPT: Final = 100_000
"""The most exchanges of a test that are held."""

BYTES: Final = 32 << 20
"""The most bytes of their bodies."""

CAPTURED: Final = 256 << 20
"""The most bytes of a test's capture; later packets are lost and counted."""

FOUND: Final = 1000
"""The most findings in a result; the others are counted."""

LOOKS: Final = 1_000
"""Exchanges that are filtered at a time."""

LINES: Final = 50
"""The most lines of a proxy's output that are kept."""


class EndedTooEarly(Exception):
    """The test ended before enough exchanges had passed."""


class ExchangesDropped(Exception):
    """Exchanges were dropped from the history, so that no statement about all exchanges is possible."""


class ProxiedTest:
    """A test, from its start until some time after its end. Its methods must be called in the loop."""

    router: ASGIApp

    def __init__(
        self,
        id: str,
        name: str,
        options: Options,
        scenario: Scenario | None,
        capture: Path | None,
        now: float,
    ) -> None:
        """Prepare a proxy. Raises OSError if the capture can't be written.

        Args:
            id: The id of the test.
            name: The name that the client gave.
            options: The options of the proxy.
            scenario: The rules; None: none.
            capture: The file of the capture; None: none.
            now: The time on the loop's clock.
        """
        self.id = id
        self.name = name
        self.capture = capture
        self.last_used = now
        self.users = 0
        """The number of requests under way."""
        self.ended: dict[str, Any] | None = None
        """The result; None: the test runs."""
        self.began = clock()
        self.history = History(most=KEPT, bytes_=BYTES)
        self.lines: deque[str] = deque(maxlen=LINES)
        rules = Rules(scenario)
        rules.began = self.began
        meta = {"masked": options.masking.kinds, **rules.meta()}
        writer = None
        if capture is not None:
            writer = CaptureWriter(capture, limit=CAPTURED, meta=meta)
        outputs = Outputs(capture=writer, done=self.history.add, say=self._say)
        self.proxy = Proxy(options, rules, outputs)
        self._ending: asyncio.Task[None] | None = None

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Mark the test as used within `with`."""
        loop = asyncio.get_running_loop()
        self.users += 1
        try:
            yield
        finally:
            self.users -= 1
            self.last_used = loop.time()

    async def wait_for(
        self, passes: Filter, count: int, within: float, since: int = 0
    ) -> list[Exchange]:
        """Wait for the first `count` exchanges that pass a filter; return fewer after the timeout.

        It considers past exchanges, too, but the first `since`.

        Raises:
            ExchangesDropped: Exchanges were dropped before the filter saw them.
            EndedTooEarly: The test ended before.
        """
        loop, history = asyncio.get_running_loop(), self.history
        end, after, matching = loop.time() + within, since - 1, list[Exchange]()
        last: int | None = None
        while len(matching) < count and (last is None or after < last):
            try:
                async with asyncio.timeout_at(end):
                    await history.more(after)
            except TimeoutError:
                break
            if last is None and loop.time() >= end:  # later exchanges do not count
                last = history.count - 1
            if history.first > after + 1:
                raise self._fell_out()
            if not (some := history.following(after, LOOKS)):
                raise EndedTooEarly
            after = some[-1][0]
            matching += await asyncio.to_thread(_passing, passes, some)
        return matching[:count]

    def exchanges(self, since: int = 0) -> list[seen.Exchange]:
        """Return all exchanges but the first `since`, as the pytest fixtures have them.

        It is slow: call it in a thread.

        Raises:
            ExchangesDropped: Exchanges were dropped.
        """
        if self.history.first > since:
            raise self._fell_out()
        return self.last(KEPT, since)

    def last(self, most: int, since: int = 0) -> list[seen.Exchange]:
        """Return the last exchanges as the pytest fixtures have them. Call it in a thread."""
        return [self._seen(each) for each in self._held(since)[-most:]]

    def last_lines(self, most: int, since: int = 0) -> list[str]:
        """Return the last exchanges in words, each with its details. Call it in a thread."""
        context = self.history.context
        held = self._held(since)[-most:]
        return [f"{self._seen(each)} {details(replace(each), context)}".rstrip() for each in held]

    def _seen(self, exchange: Exchange) -> seen.Exchange:
        row = json_line(replace(exchange), self.history.context)
        return seen.Exchange.of(json.loads(row))

    def _held(self, since: int) -> list[Exchange]:
        return [each for number, each in self.history.kept() if number >= since]

    def findings(
        self, checks: Sequence[Check] = CHECKS, since: int = 0
    ) -> tuple[list[dict[str, Any]], int]:
        """Return the first findings of checks in the held exchanges, and the number of further ones.

        It is slow: call it in a thread. Raises CheckFailed.
        """
        results = run(map(replace, self._held(since)), checks)
        rows = [finding.row(check.name) for check, finding in islice(results, FOUND)]
        return rows, sum(1 for _ in results)

    def _fell_out(self) -> ExchangesDropped:
        dropped = plural(self.history.first, "exchange")
        return ExchangesDropped(
            f"{dropped} fell out of what is held, the last {KEPT:,} with {BYTES >> 20} MiB of bodies: "
            "what is left says nothing about all of them"
        )

    def _say(self, line: str) -> None:
        if not line.startswith(("edit:", "memory:")):  # equal for all tests
            self.lines.append(line)

    async def end(self, reason: str, checks: Sequence[Check] = CHECKS) -> None:
        """Close the proxy and compute the result; return when both are done.

        It may be called several times.
        """
        if self._ending is None:
            self._ending = asyncio.create_task(self._end(reason, checks))
        await asyncio.shield(self._ending)

    async def _end(self, reason: str, checks: Sequence[Check]) -> None:
        await self.proxy.stop()
        self.history.close()
        findings, left_out = None, 0
        try:
            findings, left_out = await asyncio.to_thread(self.findings, checks)
        except CheckFailed as problem:
            self.lines.append(str(problem))
        last, options, address = report(self.proxy), self.proxy.options, self.proxy.address
        self.ended = {
            "why": reason,
            "status": views.status(last, options, address, self.history),
            "rules": [views.rule(each) for each in last.rules],
            "findings": findings,
            "findings_left_out": left_out,
        }

    def view(self) -> dict[str, Any]:
        """Return the test as JSON."""
        return {
            "id": self.id,
            "name": self.name,
            "bootstrap": endpoint_text(self.proxy.address),
            "began": iso(self.began),
            "exchanges": self.history.count,
            "fell_out": self.history.first,
            "capture": None if self.capture is None else str(self.capture),
            "said": list(self.lines),
            "ended": self.ended,
        }


def _passing(passes: Filter, some: Sequence[tuple[int, Exchange]]) -> list[Exchange]:
    return [each for _, each in some if passes(each)]
