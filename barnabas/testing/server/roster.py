"""The tests of a server, which begin, end after a timeout, and are removed later."""

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
from barnabas.testing.server.proxied_test import ProxiedTest

MOST: Final = 128
"""The most tests at a time, including ended ones that are still held."""

LOOK: Final = 1.0
"""The most seconds between two checks for unused tests."""


class Refused(Exception):
    """No more tests can begin."""


@dataclass(slots=True)
class Roster:
    """All tests of a server, in the order in which they began.

    Args:
        options: The options of the proxies.
        folder: The folder of captures.
        keep: Whether captures stay there.
        timeout: Seconds without requests after which a test ends, and after which an ended test is removed.
        new_id: Makes an id.
        cluster_ended: Returns how the cluster behind the proxies ended; None while it runs.
    """

    options: Options
    folder: Path
    keep: bool
    timeout: float
    new_id: Callable[[], str]
    cluster_ended: Callable[[], str | None] = lambda: None
    tests: dict[str, ProxiedTest] = field(default_factory=dict, init=False)
    assertion_lock: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _closing: bool = field(default=False, init=False)

    async def begin(self, name: str, scenario: Scenario | None, capture: bool) -> ProxiedTest:
        """Start a test with its own proxy, and return it when the proxy listens. Raises Refused, OSError."""
        if self._closing:
            raise Refused("the server stops")
        if reason := self.cluster_ended():
            raise Refused(f"no proxy can be started: {reason}; restart barnabas serve-tests")
        if len(self.tests) >= MOST:
            over = next((each for each in self.tests.values() if each.ended is not None), None)
            if over is None:
                raise Refused(f"{plural(MOST, 'test')} run already: end one (DELETE)")
            self._forget(over)
        test_id = self.new_id()
        path = self.folder / f"{_file_name(name)}{test_id}.pcapng" if capture else None
        now = asyncio.get_running_loop().time()
        test = ProxiedTest(test_id, name, self.options, scenario, path, now)
        try:
            await test.proxy.start()
        except OSError:
            await test.proxy.stop()
            self._forget(test)
            raise
        self.tests[test_id] = test
        return test

    async def watch(self) -> None:
        """End and remove unused tests, as long as this coroutine runs."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(min(LOOK, self.timeout / 4))
            await self.look(loop.time())

    async def look(self, now: float) -> None:
        """End or remove the tests that had no requests for the timeout. now: The time on the loop's clock."""
        for test in list(self.tests.values()):
            if test.users or now - test.last_used < self.timeout:
                continue
            if test.ended is not None:
                self._forget(test)
            else:
                await test.end(f"nobody asked about it for {self.timeout:g} s")
                test.last_used = now

    async def close(self) -> None:
        """End all tests, and refuse new ones."""
        self._closing = True
        tests = self.tests.values()
        await asyncio.gather(*(test.end("the server stops", checks=()) for test in tests))
        for test in list(self.tests.values()):
            self._forget(test)

    def _forget(self, test: ProxiedTest) -> None:
        self.tests.pop(test.id, None)
        if test.capture is not None and not self.keep:
            with contextlib.suppress(OSError):  # another process removed it
                test.capture.unlink()


def _file_name(name: str) -> str:
    """Return the beginning of a capture's file name.

    >>> _file_name("sends again / twice"), _file_name("")
    ('sends_again_twice-', '')
    """
    words = re.sub(r"\W+", "_", name)[:40]
    return f"{words}-" if words else ""
