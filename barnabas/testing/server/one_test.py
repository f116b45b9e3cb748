"""A test: a proxy of its own, what has passed it, and what is to be said of it in the end."""

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
"""Exchanges of a test that are held."""

BYTES: Final = 32 << 20
"""Bytes of their bodies."""

CAPTURED: Final = 256 << 20
"""Bytes of a test's capture: what passes when it is full is lost to it, and counted."""

FOUND: Final = 1000
"""Findings of checks that are told; the others are counted."""

LOOKS: Final = 1_000
"""Exchanges that a filter is asked about at a time."""

LINES: Final = 50
"""Last lines of what a proxy said that are told."""


class Over(Exception):
    """The test ended before what was waited for had passed."""


class FellOut(Exception):
    """Exchanges passed that are not held, so nothing can be said of all of them."""


class OneTest:
    """A test, from its start to some time after its end. All methods are for the loop.

    asked: when somebody asked about it, on the loop's clock. router: answers those who ask.
    """

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
        """capture: a file to be. Raises OSError if it can't be written."""
        self.id = id
        self.name = name
        self.capture = capture
        self.asked = now
        self.askers = 0
        """Requests that are under way."""
        self.ended: dict[str, Any] | None = None
        """What there is to say once it is over."""
        self.began = clock()
        self.history = History(most=KEPT, bytes_=BYTES)
        self.said: deque[str] = deque(maxlen=LINES)
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
        """Somebody asks about it."""
        loop = asyncio.get_running_loop()
        self.askers += 1
        try:
            yield
        finally:
            self.askers -= 1
            self.asked = loop.time()

    async def wait_for(self, passes: Filter, count: int, within: float) -> list[Exchange]:
        """The first so many exchanges of all that pass, also of those to come; fewer when so many seconds are
        over.

        Raises FellOut, Over.
        """
        loop, history = asyncio.get_running_loop(), self.history
        end, after, found = loop.time() + within, -1, list[Exchange]()
        last: int | None = None
        while len(found) < count and (last is None or after < last):
            try:
                async with asyncio.timeout_at(end):
                    await history.more(after)
            except TimeoutError:
                break
            if last is None and loop.time() >= end:  # what comes from now on is too late
                last = history.count - 1
            if history.first > after + 1:
                raise self._fell_out()
            if not (some := history.following(after, LOOKS)):
                raise Over
            after = some[-1][0]
            found += await asyncio.to_thread(_passing, passes, some)
        return found[:count]

    def exchanges(self) -> list[seen.Exchange]:
        """All there were, as the fixtures of pytest see them. It takes its time: for a thread.

        Raises FellOut.
        """
        if self.history.first:
            raise self._fell_out()
        return self.last(KEPT)

    def last(self, most: int) -> list[seen.Exchange]:
        """The last ones. For a thread, too."""
        context = self.history.context
        held = [each for _, each in self.history.kept()][-most:]
        return [seen.Exchange.of(json.loads(json_line(replace(each), context))) for each in held]

    def findings(self, checks: Sequence[Check] = CHECKS) -> tuple[list[dict[str, Any]], int]:
        """What `barnabas check` finds in what is held, and how many more. It takes its time: for a thread.

        Raises CheckFailed.
        """
        held = [each for _, each in self.history.kept()]
        found = run(map(replace, held), checks)
        rows = [finding.row(check.name) for check, finding in islice(found, FOUND)]
        return rows, sum(1 for _ in found)

    def _fell_out(self) -> FellOut:
        gone = plural(self.history.first, "exchange")
        return FellOut(
            f"{gone} fell out of what is held, the last {KEPT:,} with {BYTES >> 20} MiB of bodies: "
            "what is left says nothing about all of them"
        )

    def _say(self, line: str) -> None:
        if not line.startswith(("edit:", "memory:")):  # the same of each
            self.said.append(line)

    async def end(self, why: str, checks: Sequence[Check] = CHECKS) -> None:
        """Close what is open, and see what is to be said; comes back when that is done, however often."""
        if self._ending is None:
            self._ending = asyncio.create_task(self._end(why, checks))
        await asyncio.shield(self._ending)

    async def _end(self, why: str, checks: Sequence[Check]) -> None:
        await self.proxy.stop()
        self.history.close()
        found, left_out = None, 0
        try:
            found, left_out = await asyncio.to_thread(self.findings, checks)
        except CheckFailed as problem:
            self.said.append(str(problem))
        last, options, address = report(self.proxy), self.proxy.options, self.proxy.address
        self.ended = {
            "why": why,
            "status": views.status(last, options, address, self.history),
            "rules": [views.rule(each) for each in last.rules],
            "findings": found,
            "findings_left_out": left_out,
        }

    def view(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "id": self.id,
            "name": self.name,
            "bootstrap": endpoint_text(self.proxy.address),
            "began": iso(self.began),
            "exchanges": self.history.count,
            "fell_out": self.history.first,
            "capture": None if self.capture is None else str(self.capture),
            "said": list(self.said),
            "ended": self.ended,
        }


def _passing(passes: Filter, some: Sequence[tuple[int, Exchange]]) -> list[Exchange]:
    return [each for _, each in some if passes(each)]
