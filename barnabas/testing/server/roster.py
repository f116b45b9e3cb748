"""The tests at work: begun, found, ended when nobody asks about them any more, forgotten."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from barnabas.plural import plural
from barnabas.proxy.network.options import Options
from barnabas.proxy.scenario.model import Scenario
from barnabas.testing.server.one_test import OneTest

MOST: Final = 128
"""Tests at a time, those included that are over and not forgotten."""

LOOK: Final = 1.0
"""Seconds between two looks for tests that nobody asks about, at most."""


class Full(Exception):
    """No more tests can begin, and why."""


@dataclass(slots=True)
class Roster:
    """All tests, in the order in which they began.

    options: of their proxies. folder: for captures. keep: they stay there. timeout: seconds after which a
    test that nobody asks about ends, and after which one that has ended is forgotten. new_id: makes an id.
    """

    options: Options
    folder: Path
    keep: bool
    timeout: float
    new_id: Callable[[], str]
    tests: dict[str, OneTest] = field(default_factory=dict, init=False)
    judging: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _closing: bool = field(default=False, init=False)

    async def begin(self, name: str, scenario: Scenario | None, capture: bool) -> OneTest:
        """A test with a proxy of its own, which listens. Raises Full, OSError."""
        if self._closing:
            raise Full("the server stops")
        if len(self.tests) >= MOST:
            over = next((each for each in self.tests.values() if each.ended is not None), None)
            if over is None:
                raise Full(f"{plural(MOST, 'test')} run already: end one (DELETE)")
            self._forget(over)
        one = self.new_id()
        path = self.folder / f"{_file_name(name)}{one}.pcapng" if capture else None
        now = asyncio.get_running_loop().time()
        test = OneTest(one, name, self.options, scenario, path, now)
        try:
            await test.proxy.start()
        except OSError:
            await test.proxy.stop()
            self._forget(test)
            raise
        self.tests[one] = test
        return test

    async def watch(self) -> None:
        """End and forget those that nobody asks about, for as long as this runs."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(min(LOOK, self.timeout / 4))
            await self.look(loop.time())

    async def look(self, now: float) -> None:
        """End or forget those that nobody has asked about for the timeout, at a time on the loop's clock."""
        for test in list(self.tests.values()):
            if test.askers or now - test.asked < self.timeout:
                continue
            if test.ended is not None:
                self._forget(test)
            else:
                await test.end(f"nobody asked about it for {self.timeout:g} s")
                test.asked = now

    async def close(self) -> None:
        """End all, and let no more begin."""
        self._closing = True
        tests = self.tests.values()
        await asyncio.gather(*(test.end("the server stops", checks=()) for test in tests))
        for test in list(self.tests.values()):
            self._forget(test)

    def _forget(self, test: OneTest) -> None:
        self.tests.pop(test.id, None)
        if test.capture is not None and not self.keep:
            with contextlib.suppress(OSError):  # somebody else was faster
                test.capture.unlink()


def _file_name(name: str) -> str:
    """How a capture's name begins.

    >>> _file_name("sends again / twice"), _file_name("")
    ('sends_again_twice-', '')
    """
    found = re.sub(r"\W+", "_", name)[:40]
    return f"{found}-" if found else ""
