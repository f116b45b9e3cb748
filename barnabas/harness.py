"""A proxy in a thread with its own loop, for the demo and for tests of barnabas.

with Harness("127.0.0.1:9092", scenario=load("late.yaml"), capture="late.pcapng") as proxy:
    Producer({"bootstrap.servers": proxy.bootstrap})
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from barnabas.addresses import parse_servers
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.summary.api_stats import ApiStats
from barnabas.captures.writing.writer import CaptureWriter
from barnabas.loop import run
from barnabas.proxy.network.clock import clock
from barnabas.proxy.network.options import Options
from barnabas.proxy.network.server import Proxy
from barnabas.proxy.network.surroundings import Outputs
from barnabas.proxy.rules.rules import Rules
from barnabas.proxy.scenario.file import Scenario


class Harness:
    """A proxy on loopback ports of the system's choice, which runs within `with`."""

    def __init__(
        self,
        upstream: str | Options,
        *,
        scenario: Scenario | None = None,
        capture: Path | str | None = None,
        done: Callable[[Exchange], None] | None = None,
        say: Callable[[str], None] | None = None,
    ) -> None:
        """Prepare a proxy.

        Args:
            upstream: The cluster's bootstrap servers, or all options of the proxy.
            scenario: The rules.
            capture: A file for all traffic.
            done: Called with each exchange; None: they are appended to `exchanges`.
            say: Called with each line of the proxy; None: they are appended to `lines`.
        """
        if isinstance(upstream, str):
            upstream = Options(parse_servers(upstream))
        self.options = upstream
        self.rules = Rules(scenario)
        self.rules.began = clock()
        self.exchanges: list[Exchange] = []
        self.lines: list[str] = []
        self.capture: CaptureWriter | None = None
        if capture is not None:
            self.capture = CaptureWriter(Path(capture), limit=None, meta=self.rules.meta())
        self._done = done or self.exchanges.append
        self._say = say or self.lines.append
        self._started = threading.Event()
        self._failure: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop
        self._stop: asyncio.Event
        self._thread = threading.Thread(target=self._work, name="proxy", daemon=True)

    @property
    def bootstrap(self) -> str:
        """Return the proxy's address for clients, HOST:PORT."""
        host, port = self.proxy.address
        return f"{host}:{port}"

    @property
    def tally(self) -> ApiStats:
        """Return counts and latencies by API."""
        return self.proxy.tally

    def __enter__(self) -> Self:
        self._thread.start()
        self._started.wait()
        if self._failure is not None:
            raise self._failure
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        if self._failure is not None and value is None:
            raise self._failure

    def replace(self, scenario: Scenario) -> None:
        """Replace the scenario of all connections, from their next message on; `rules` are the new rules."""

        async def replace() -> None:
            self.proxy.replace(scenario, "the harness")
            self.rules = self.proxy.rules

        asyncio.run_coroutine_threadsafe(replace(), self._loop).result()

    def _work(self) -> None:
        try:
            run(self._main())
        except BaseException as failure:  # noqa: BLE001 - raised again in the caller's thread
            self._failure = failure
        finally:
            self._started.set()

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self.proxy = Proxy(
            self.options,
            self.rules,
            Outputs(capture=self.capture, done=self._done, say=self._say),
        )
        await self.proxy.start()
        self._started.set()
        await self._stop.wait()
        await self.proxy.stop()
