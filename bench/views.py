"""How long the page's views take for 10,000 exchanges: until all are counted, and until a browser shows them.

The exchanges are those of samples, over and over: each round has its own connections and a later time.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count, islice
from pathlib import Path
from typing import Any, Final

from rich.table import Table
from starlette.applications import Starlette
from starlette.requests import Request

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.exchange import Exchange
from barnabas.page.api import PageContent, api, application, is_file
from barnabas.page.recorded import Recorded
from barnabas.proxy.control.history import History
from barnabas.proxy.control.server import serve
from bench import machine

EXCHANGES: Final = 10_000

SAMPLES: Final = tuple(
    Path("captures/samples", name)
    for name in ("rebalance.pcap.gz", "kip-848.pcapng", "transactions.pcapng", "faults.pcapng")
)

SHOWS: Final = {
    "overview": ".figures dd",
    "exchanges": ".rows .api",
    "sequence": ".message",
    "groups": ".lanes rect.event",
    "transactions": "td",
    "topics": "td",
    "latency": "figure canvas",
    "rules": ".editor textarea",
}
"""The views, and what a view has once it shows something."""

GAP: Final = 1_000_000_000
"""Nanoseconds between two rounds."""

TIMED: Final = """([name, selector]) => new Promise(resolve => {
  const begun = performance.now();
  let first = null;
  const look = () => {
    const view = document.querySelector("main." + name), now = performance.now() - begun;
    if (first === null && view?.querySelector(selector)) first = now;
    if (first !== null && !view.querySelector(".loading")) resolve([first, now]);
    else setTimeout(look, 5);
  };
  import("/page/store.js").then(({go}) => { go({view: name}); look(); });
})"""


@dataclass(slots=True)
class ViewTime:
    """Seconds that a view takes for EXCHANGES."""

    view: str
    computed: float | None = None
    """Of a processor, until the server has counted all; None: the view counts none."""
    first: float | None = None
    """Until a browser shows something; None: there is no browser."""
    complete: float | None = None
    """Until a browser shows all."""


def filled(exchanges: int = EXCHANGES) -> History:
    """Return a history with the exchanges of SAMPLES, each round with its connections and times."""
    history = History(most=exchanges, bytes_=1 << 30)
    samples = [
        [*capture.exchanges()]
        for capture in (open_capture(path, context=history.context) for path in SAMPLES)
    ]
    for exchange in islice(_rounds(samples), exchanges):
        history.add(exchange)
    history.close()
    return history


def _rounds(samples: list[list[Exchange]]) -> Iterator[Exchange]:
    at = samples[0][0].ts
    for first in count(0, 1000):
        for sample in samples:
            shift = at - sample[0].ts
            for each in sample:
                yield replace(
                    each,
                    ts=each.ts + shift,
                    ended=each.ended and each.ended + shift,
                    begun=each.begun and each.begun + shift,
                    sent=each.sent and each.sent + shift,
                    connection=first + each.connection,
                    facts=None,
                )
            at = shift + max(each.end for each in sample) + GAP


def measure(rounds: int, progress: Callable[[str], None]) -> list[ViewTime]:
    """Return the shortest times of some rounds, each with a new server."""
    history = filled()
    times = {name: ViewTime(name) for name in SHOWS}
    for number in range(rounds):
        progress(f"views: {EXCHANGES} exchanges, round {number + 1} of {rounds}")
        for name, seconds in asyncio.run(_computed(history)):
            times[name].computed = _least(times[name].computed, seconds)
        if shutil.which("chromium") is not None:
            for name, first, complete in asyncio.run(_shown(history)):
                times[name].first = _least(times[name].first, first)
                times[name].complete = _least(times[name].complete, complete)
    return list(times.values())


def _least(before: float | None, seconds: float) -> float:
    return seconds if before is None else min(before, seconds)


def _content(history: History) -> PageContent:
    return PageContent(history, {"kind": "capture", "name": "samples", "keeps": EXCHANGES})


async def _computed(history: History) -> list[tuple[str, float]]:
    endpoints: dict[str, Any] = {
        route.path.strip("/"): route.endpoint for route in api(_content(history))
    }
    times = []
    for name in SHOWS:
        if name not in endpoints:
            continue
        request = Request({"type": "http", "query_string": b"", "headers": [], "app": Starlette()})
        begun = time.process_time()
        while json.loads((await endpoints[name](request)).body).get("waiting"):
            pass
        times.append((name, time.process_time() - begun))
    return times


async def _shown(history: History) -> list[tuple[str, float, float]]:
    from playwright.async_api import async_playwright

    rules = Recorded(history, history.context.topics, None).routes
    serving = await serve(
        application(_content(history), rules), ("127.0.0.1", 0), "secret", is_file
    )
    times = []
    try:
        async with async_playwright() as driver:
            browser = await driver.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = await browser.new_page(viewport={"width": 1600, "height": 900})
            await page.goto(f"http://127.0.0.1:{serving.address[1]}/#token=secret&view=breakpoints")
            await page.wait_for_selector("nav button")
            for name in ("topics", *(each for each in SHOWS if each != "topics")):
                first, complete = await page.evaluate(TIMED, [name, SHOWS[name]])
                times.append((name, first / 1000, complete / 1000))
            await browser.close()
    finally:
        await asyncio.wait_for(serving.stop(), 5)
    return times


def table(results: list[ViewTime]) -> Table:
    """Return the times as a table."""
    made = Table(
        title=f"views of {EXCHANGES:,} exchanges, in seconds ({machine.describe()})",
        caption="the shortest of the rounds; a browser on the same cores",
    )
    made.add_column("view")
    for name in ("computed", "shows something", "shows all"):
        made.add_column(name, justify="right")
    for row in results:
        seconds = (row.computed, row.first, row.complete)
        made.add_row(row.view, *("" if each is None else f"{each:.2f}" for each in seconds))
    return made
